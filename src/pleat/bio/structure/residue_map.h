// Residue map: which residue of a structure stands in which column of an alignment.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/core/view.h"

namespace pleat {

/// What the user may say about the map.
struct ResidueMapOptions {
    std::string row = {};  ///< name of the row to align to the chain; empty: the best matching row
    std::string chain = {};  ///< name of the chain; empty: the best matching chain
    /// Identity below which the structure is refused; NaN: 0.3 for proteins, 0.6 for nucleic acids
    /// (unrelated sequences reach about 0.2 and 0.5).
    double least_identity = std::numeric_limits<double>::quiet_NaN();
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

/// The row of that name: its whole name, or its first word, or that up to the slash of a range,
/// where only one row answers to it; of rows that share name and letters the first. UsageError: no
/// row, or more than one, has the name.
Index find_row(const Alignment& alignment, const std::string& name);

/// Aligns one row of the alignment to the sequence of one chain (see pairwise.h) and carries its
/// letters over to columns; columns where the row has a gap have no residue.
///
/// The row is the one named (see find_row), else that of the highest alignment score (of equals the
/// first). Of large alignments only the rows that share most words of 3 amino acids or 5
/// nucleotides with the chain are aligned: at least 64 rows, and all rows of small families.
///
/// UsageError: no row, or more than one, has the name. InputError: no chain of the alignment's kind
/// or of the name, identity below the least, or too little of the shorter sequence (< 0.3) mapped.
ResidueMap map_residues(const Alignment& alignment, const Structure& structure,
                        const ResidueMapOptions& options = {});

}  // namespace pleat
