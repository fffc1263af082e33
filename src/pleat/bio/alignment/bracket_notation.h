// Secondary structures of nucleic acids: base pairs in dot-bracket and WUSS notation.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/core/view.h"

namespace pleat {

/// A secondary structure: one mark per column of an alignment or per residue of a sequence.
struct SecondaryStructure {
    std::string marks;   ///< dot-bracket or WUSS
    std::string source;  ///< file, or the name given with a text
    /// The marks of the columns that the RF line of a Stockholm alignment names; empty without one.
    std::vector<Index> columns = {};
};

/// Reads a structure, plain or compressed, from a Stockholm alignment (`#=GC SS_cons`), or from
/// lines in dot-bracket or WUSS notation, beside which FASTA headers, lines of letters and an
/// energy behind the marks ("(-12.30)") are left out. "-" is standard input. Throws InputError,
/// naming file and line, for other content, more than one structure, and brackets without a
/// partner.
SecondaryStructure read_secondary_structure(const std::filesystem::path& path);

/// The same from memory; errors call the file `name`.
SecondaryStructure read_secondary_structure_from_memory(const std::string& name,
                                                        std::string_view bytes);

/// The nested base pairs, first < second, counted from 0, in the order of their first base. Of
/// brackets of different kinds that cross, those of the kind that comes first in "(<[{" are nested;
/// the others, and letters (Aa, Bb, ...), are pseudoknots, which are left out.
std::vector<std::pair<Index, Index>> nested_pairs(const SecondaryStructure& structure);

/// All base pairs, with the pseudoknots, first < second, in the order of their first base.
std::vector<std::pair<Index, Index>> all_base_pairs(const SecondaryStructure& structure);

}  // namespace pleat
