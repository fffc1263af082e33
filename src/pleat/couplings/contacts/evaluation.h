// Evaluation: how many of the highest scored pairs are contacts of a known structure.
#pragma once

#include <string>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::couplings {

/// A range of separations |i - j| along the sequence, both ends included.
struct SeparationRange {
    std::string name;  ///< "all", "short", "medium", "long"
    Index least = 0;
    Index most = 0;  ///< -1: without limit

    bool holds(Index separation) const {
        return separation >= least && (most < 0 || separation <= most);
    }
};

/// all: >= 6; short: 6-11; medium: 12-23; long: >= 24 (CASP's ranges).
const std::vector<SeparationRange>& separation_ranges();

/// Precision of the highest scored pairs of one range.
struct Precision {
    std::string range;  ///< name of the range
    std::string depth;  ///< "L/10", "L/5", "L/2", "L", "2L"
    Index pairs =
        0;  ///< pairs counted: the depth rounded down, at least 1; fewer where the range has fewer
    Index correct = 0;     ///< contacts among them
    double precision = 0;  ///< correct / pairs; NaN without pairs
};

/// What a structure says about scores.
struct ContactEvaluation {
    Index length = 0;                   ///< L: columns that have a residue with the atoms measured
    double cutoff = 0;                  ///< angstrom
    Index evaluated = 0;                ///< pairs with a distance and |i - j| >= 6
    Index contacts = 0;                 ///< contacts among them
    std::vector<Precision> precisions;  ///< ranges in their order, depths in theirs within each

    /// The entry of that range and depth; UsageError when there is none.
    const Precision& at(const std::string& range, const std::string& depth) const;
};

/// Compares scores with distances over one set of columns.
///
/// `scores`: L x L, only i < j is read, higher is more likely a contact. `distances`: L x L in
/// angstrom from column_distances(), NaN where the structure says nothing: such pairs are passed
/// over, not counted as wrong, and L counts only columns that are mapped, as CASP does with
/// residues that an experiment did not see. `columns`: the source column of each column
/// (Alignment::columns); |i - j| is counted in source columns, so that filtering columns does not
/// bring residues closer. Pairs of equal score stand in row order. A pair is a contact when its
/// distance is below `cutoff`. UsageError for shapes that differ and for scores that are NaN.
ContactEvaluation evaluate(View<const double, 2> scores, View<const double, 2> distances,
                           const std::vector<Index>& columns, double cutoff);

}  // namespace pleat::couplings
