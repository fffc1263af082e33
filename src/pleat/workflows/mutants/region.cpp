// Region: ranges of residue numbers.
#include "pleat/workflows/mutants/region.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat::mutants {

namespace {

/// FIRST-LAST or a number; a number may be negative.
bool parse_range(std::string_view text, Index& first, Index& last) {
    const char* const end = text.data() + text.size();
    const auto [dash, problem] = std::from_chars(text.data(), end, first);
    last = first;
    if (problem != std::errc()) return false;
    if (dash == end) return true;
    const auto [rest, second_problem] = std::from_chars(dash + 1, end, last);
    return *dash == '-' && second_problem == std::errc() && rest == end && last >= first;
}

/// "5 to 99": the first and the last residue that has a column.
std::string residues_of(const Target& target) {
    Index first = std::numeric_limits<Index>::max(), last = std::numeric_limits<Index>::min();
    for (const Index residue : target.residues) {
        if (residue == Target::kNone) continue;
        first = std::min(first, target.number(residue));
        last = std::max(last, target.number(residue));
    }
    return fmt::format("residues {} to {}", first, last);
}

/// Selects residues from `first` to `last` that have a column, and adds a note if some have none.
void name_range(Index first, Index last, const Target& target, std::vector<bool>& is_named,
                Notes& notes) {
    const std::string range =
        first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    Index count = 0, lowest = last, highest = first;
    for (std::size_t i = 0; i < target.residues.size(); ++i) {
        if (target.residues[i] == Target::kNone) continue;
        const Index number = target.number(target.residues[i]);
        if (number < first || number > last) continue;
        is_named[i] = true;
        ++count;
        lowest = std::min(lowest, number);
        highest = std::max(highest, number);
    }
    if (count == 0)
        throw UsageError(fmt::format(
            "give --doubles residues in the columns of the model, which has {}, not '{}'",
            residues_of(target), range));
    if (static_cast<std::uint64_t>(count - 1) <
        static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first))
        notes.push_back(
            {NoteKind::residues,
             fmt::format(
                 "residues {} of --doubles: {} of them, from {} to {}, are in the columns of "
                 "the model; the others are left out",
                 range, count, lowest, highest)});
}

}  // namespace

std::vector<Index> columns_of_region(std::string_view text, const Target& target, Notes& notes) {
    std::vector<bool> is_named(target.residues.size(), text == "all");
    for (const std::string_view part : split(text, ',')) {
        if (text == "all") break;
        Index first = 0, last = 0;
        if (!parse_range(stripped(part), first, last))
            throw UsageError(fmt::format(
                "give --doubles as ranges of residues, such as 20-45,50, or as all, not as '{}'",
                printable(text)));
        name_range(first, last, target, is_named, notes);
    }
    std::vector<Index> columns;
    for (std::size_t i = 0; i < target.residues.size(); ++i)
        if (target.residues[i] != Target::kNone && is_named[i])
            columns.push_back(static_cast<Index>(i));
    if (columns.size() < 2)
        throw UsageError(
            fmt::format("give --doubles at least 2 residues in the columns of the model, which has "
                        "{}, not '{}'",
                        residues_of(target), printable(text)));
    return columns;
}

}  // namespace pleat::mutants
