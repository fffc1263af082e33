// Known structure: what people call its residues and columns, and the reference row.
#include "pleat/bio/structure/known_structure.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <utility>

#include "pleat/core/files/printable.h"

namespace pleat {

ReferenceRow make_reference_row(const Alignment& source, Index row) {
    const auto at = static_cast<std::size_t>(row);
    ReferenceRow reference{source.names[at], {}, {}, {}};
    for (const std::uint8_t code : source.letters.view()[row])
        reference.letters += source.alphabet->letter(code);
    for (const char c : source.has_full_row(row) ? source.full_rows[at] : reference.letters) {
        if (c != '-')
            reference.sequence += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        if (std::islower(static_cast<unsigned char>(c)) != 0) continue;
        reference.numbers.push_back(c == '-' ? 0 : static_cast<Index>(reference.sequence.size()));
    }
    return reference;
}

std::string numbers_text(const ReferenceRow& reference) {
    return reference.shown.empty()
               ? std::string("columns count from 1")
               : fmt::format("residues of {} by number", printable(reference.name));
}

std::string number_heading(const ReferenceRow& reference, char index) {
    return fmt::format("{} {}", reference.shown.empty() ? "column" : "number", index);
}

namespace {

/// START and END of a name NAME/START-END.
std::optional<std::pair<Index, Index>> range_in_name(const std::string& name) {
    const std::size_t slash = name.rfind('/');
    if (slash == std::string::npos) return std::nullopt;
    const char* const end = name.data() + name.size();
    Index first = 0, last = 0;
    const auto [dash, problem] = std::from_chars(name.data() + slash + 1, end, first);
    if (problem != std::errc() || dash == end || *dash != '-') return std::nullopt;
    const auto [rest, second_problem] = std::from_chars(dash + 1, end, last);
    if (second_problem != std::errc() || rest != end || last < first) return std::nullopt;
    return std::pair(first, last);
}

}  // namespace

std::optional<Index> start_in_name(const std::string& name) {
    const auto range = range_in_name(name);
    return range ? std::optional(range->first) : std::nullopt;
}

std::string doubt_about_numbers(const std::string& name, Index residues) {
    const auto range = range_in_name(name);
    if (!range || range->second - range->first + 1 == residues) return {};
    return fmt::format(
        "'{}' has {} residues, but its name counts {}: numbers after residues that are missing "
        "are wrong",
        printable(name), residues, range->second - range->first + 1);
}

void show_residue_numbers(ReferenceRow& reference) {
    const Index before = start_in_name(reference.name).value_or(1) - 1;
    reference.shown.clear();
    for (const Index number : reference.numbers) reference.shown.push_back(number + before);
}

std::vector<Index> shown_columns(const Alignment& kept, const ReferenceRow& reference) {
    std::vector<Index> shown;
    for (const Index column : kept.columns) shown.push_back(reference.shown_number(column) - 1);
    return shown;
}

std::string residue_label(const KnownStructure& known, Index column, std::string_view none) {
    const Index residue = known.residues[static_cast<std::size_t>(column)];
    if (residue < 0) return std::string(none);
    const Residue& found = known.chain().residues[static_cast<std::size_t>(residue)];
    return found.name + " " + found.id();
}

std::string column_label(const Alignment& kept, const ReferenceRow& reference, Index column) {
    const Index source = kept.columns[static_cast<std::size_t>(column)];
    const char letter = reference.letters[static_cast<std::size_t>(source)];
    // A '-' beside a number reads as a minus.
    const Index number = reference.shown_number(source);
    return letter == '-' || letter == '.' ? fmt::format("{} (gap)", number)
                                          : fmt::format("{} ({})", number, letter);
}

}  // namespace pleat
