// Residue map: the residue of a structure for each column of an alignment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/core/view.h"

namespace pleat {

/// Choices that the user may make.
struct ResidueMapOptions {
    std::string row = {};  ///< name of the row to align to the chain; empty: the best matching row
    std::string chain = {};  ///< name of the chain; empty: the best matching chain
    /// Identity below which the structure is refused; not set: 0.3 for proteins, 0.6 for nucleic
    /// acids (unrelated sequences reach about 0.2 and 0.5).
    std::optional<double> min_identity = {};
};

/// The map from alignment columns to the residues of one chain.
struct ResidueMap {
    std::vector<Index> residues;  ///< per column an index into the chain's residues, or -1
    Index mapped = 0;             ///< columns that have a residue
    Index row = 0;                ///< row of the alignment that was aligned to the chain
    std::string row_name;
    Index chain = 0;  ///< index into the structure's chains
    std::string chain_name;
    double identity =
        0;  ///< identical letters over mapped columns whose residue has a known letter
};

/// The row with this name: its whole name, its first word, or its first word up to the slash of a
/// range, if only one row has it; of rows with the same name and letters the first. Throws
/// UsageError if no row, or more than one, has the name.
Index find_row(const Alignment& alignment, const std::string& name);

/// Aligns one row of the alignment to the sequence of one chain (see pairwise.h) and carries its
/// letters over to columns; columns where the row has a gap have no residue.
///
/// The row is the one named (see find_row), else that of the highest alignment score (of equals the
/// first). Of large alignments only the rows that share most words of 3 amino acids or 5
/// nucleotides with the chain are aligned: at least 64 rows, and all rows of small families.
///
/// Throws UsageError if no row, or more than one, has the name. Throws InputError if no chain is of
/// the alignment's kind or has the name, if the identity is below the minimum, or if less than 0.3
/// of the shorter sequence is mapped.
ResidueMap map_residues(const Alignment& alignment, const Structure& structure,
                        const ResidueMapOptions& options = {});

/// A line for the user if a chain of `structure` has so few letters in common with `sequence`
/// ("row 'a'") that it may be of another family; else empty. `identity`: see ResidueMap.
std::string doubt_about_family(const std::string& structure, const std::string& chain,
                               double identity, const std::string& sequence);

}  // namespace pleat
