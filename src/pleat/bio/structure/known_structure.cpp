// Known structure: what people call its residues and columns, and the reference row.
#include "pleat/bio/structure/known_structure.h"

#include <fmt/format.h>

#include <cctype>

namespace pleat {

ReferenceRow make_reference_row(const Alignment& source, const std::vector<std::string>& full_rows,
                                Index row) {
    const auto at = static_cast<std::size_t>(row);
    ReferenceRow reference{source.names[at], {}, {}, {}};
    for (const std::uint8_t code : source.letters.view()[row])
        reference.letters += source.alphabet->letter(code);
    const bool leaves_out = !full_rows.empty() && !full_rows[at].empty();
    for (const char c : leaves_out ? full_rows[at] : std::string(reference.letters)) {
        if (c != '-')
            reference.sequence += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        if (std::islower(static_cast<unsigned char>(c)) != 0) continue;
        reference.numbers.push_back(c == '-' ? 0 : static_cast<Index>(reference.sequence.size()));
    }
    return reference;
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
    return letter == '-' || letter == '.' ? fmt::format("{} (gap)", source + 1)
                                          : fmt::format("{} ({})", source + 1, letter);
}

}  // namespace pleat
