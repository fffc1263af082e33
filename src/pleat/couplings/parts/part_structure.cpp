// Structure of parts: mapping each part to its chain, and joining the chains.
#include "pleat/couplings/parts/part_structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat::couplings {

namespace {

/// The columns of one part, with all rows or with `row` alone.
Alignment columns_of(const Alignment& source, const Part& part, std::optional<Index> row) {
    Alignment one;
    const Index rows = row ? 1 : source.sequence_count();
    one.letters = Array<std::uint8_t, 2>(rows, part.last - part.first);
    for (Index n = 0; n < rows; ++n) {
        const Index from = row.value_or(n);
        one.names.push_back(source.names[static_cast<std::size_t>(from)]);
        for (Index k = part.first; k < part.last; ++k)
            one.letters(n, k - part.first) = source.letters(from, k);
        if (!source.has_full_row(from)) continue;
        one.full_rows.resize(static_cast<std::size_t>(rows));
        // Insertions between two parts belong to the first of them.
        Index column = 0;
        for (const char c : source.full_rows[static_cast<std::size_t>(from)]) {
            const bool is_column = c == '-' || (c >= 'A' && c <= 'Z');
            const Index at = is_column ? column++ : std::max<Index>(column - 1, 0);
            if (at >= part.first && at < part.last) one.full_rows[static_cast<std::size_t>(n)] += c;
        }
    }
    for (Index k = 0; k < part.last - part.first; ++k) one.columns.push_back(k);
    one.alphabet = source.alphabet;
    one.source = source.source;
    one.format = source.format;
    return one;
}

}  // namespace

ResidueMap map_parts(const Alignment& source, const Parts& parts, const std::string& row,
                     const std::string& chains, Structure& structure) {
    const std::vector<std::string_view> names = words(chains, ",");
    if (names.size() != parts.size())
        throw UsageError(
            fmt::format("--structure: expected a chain for each of {} parts (FILE:A,B), found '{}'",
                        parts.size(), chains));
    ResidueMap all;
    Chain joined;
    std::optional<Index> used_row;
    if (!row.empty()) used_row = find_row(source, row);
    double identical = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
        const ResidueMap one = map_residues(columns_of(source, parts[k], used_row), structure,
                                            {.chain = std::string(names[k])});
        if (!used_row) used_row = one.row;
        const Chain& chain = structure.chains[static_cast<std::size_t>(one.chain)];
        const auto offset = static_cast<Index>(joined.residues.size());
        for (const Index residue : one.residues)
            all.residues.push_back(residue < 0 ? -1 : residue + offset);
        joined.kind = chain.kind;
        std::copy(chain.residues.begin(), chain.residues.end(),
                  std::back_inserter(joined.residues));
        all.mapped += one.mapped;
        identical += one.identity * static_cast<double>(one.mapped);
        all.row_name = one.row_name;
    }
    joined.name = all.chain_name = chains;
    all.row = *used_row;
    all.identity = identical / static_cast<double>(std::max<Index>(all.mapped, 1));
    all.chain = static_cast<Index>(structure.chains.size());
    structure.chains.push_back(std::move(joined));
    return all;
}

}  // namespace pleat::couplings
