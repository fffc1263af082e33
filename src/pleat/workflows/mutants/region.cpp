// Region: ranges of residue numbers.
#include "pleat/workflows/mutants/region.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "pleat/core/error.h"
#include "pleat/core/files/line_list.h"
#include "pleat/core/files/printable.h"

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

}  // namespace

std::vector<Index> columns_of_region(std::string_view text, const Target& target) {
    std::vector<bool> is_named(target.residues.size(), text == "all");
    for (const std::string_view part : split(text, ',')) {
        if (text == "all") break;
        Index first = 0, last = 0;
        if (!parse_range(stripped(part), first, last))
            throw UsageError(fmt::format(
                "give --doubles as ranges of residues, such as 20-45,50, or as all, not as '{}'",
                printable(text)));
        for (std::size_t i = 0; i < target.residues.size(); ++i) {
            if (target.residues[i] == Target::kNone) continue;
            const Index number = target.number(target.residues[i]);
            if (number >= first && number <= last) is_named[i] = true;
        }
    }
    std::vector<Index> columns, numbers;
    for (std::size_t i = 0; i < target.residues.size(); ++i) {
        if (target.residues[i] == Target::kNone) continue;
        numbers.push_back(target.number(target.residues[i]));
        if (is_named[i]) columns.push_back(static_cast<Index>(i));
    }
    if (columns.size() < 2)
        throw UsageError(
            fmt::format("give --doubles at least 2 residues in the columns of the model, which has "
                        "residues {1} "
                        "to {2}, not '{0}'",
                        printable(text), numbers.front(), numbers.back()));
    return columns;
}

}  // namespace pleat::mutants
