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
    /// The columns that the RF line of a Stockholm alignment keeps; empty without an RF line.
    std::vector<Index> columns = {};
};

/// Reads a secondary structure, plain or compressed: `#=GC SS_cons` of a Stockholm alignment, or
/// lines in dot-bracket or WUSS notation. FASTA headers, lines of letters and an energy after the
/// marks ("(-12.30)") are ignored. "-" is standard input. Throws InputError, naming file and line,
/// for other content, several structures, or brackets without a partner.
SecondaryStructure read_secondary_structure(const std::filesystem::path& path);

/// Reads the same formats from memory; errors call the file `name`.
SecondaryStructure read_secondary_structure_from_memory(const std::string& name,
                                                        std::string_view bytes);

/// The nested base pairs, first < second, from 0, ordered by first base. If brackets of different
/// kinds cross, those that come first in "(<[{" count as nested; the others and letters (Aa, Bb,
/// ...) are pseudoknots and left out.
std::vector<std::pair<Index, Index>> nested_pairs(const SecondaryStructure& structure);

/// All base pairs, with the pseudoknots, first < second, in the order of their first base.
std::vector<std::pair<Index, Index>> all_base_pairs(const SecondaryStructure& structure);

}  // namespace pleat
