// Evaluation: how many of the pairs with the highest scores are contacts in a known structure.
#pragma once

#include <string>
#include <vector>

#include "pleat/core/view.h"
#include "pleat/couplings/couplings.h"
#include "pleat/couplings/parts/analysis.h"

namespace pleat::couplings {

/// Precision of the highest-scoring pairs in one range of separations.
struct RangePrecision {
    std::string range;  ///< name of the range
    std::string depth;  ///< "L/10", "L/5", "L/2", "L", "2L"
    Index pairs =
        0;  ///< pairs counted: the depth rounded down, at least 1, at most all of the range
    Index contact_count = 0;  ///< contacts among them
    double precision = 0;     ///< correct / pairs; NaN without pairs
};

/// How well scores agree with the contacts of a structure.
struct ContactEvaluation {
    Index length = 0;           ///< L: columns that have a residue with the atoms measured
    double cutoff = 0;          ///< angstrom
    Index evaluated_pairs = 0;  ///< pairs with a distance and |i - j| >= 6
    Index contacts = 0;         ///< contacts among them
    std::vector<RangePrecision>
        precisions;  ///< ranges in their order, depths in theirs within each

    /// The entry with this range and depth. Throws UsageError if there is none.
    const RangePrecision& at(const std::string& range, const std::string& depth) const;
};

/// Compares scores with distances over one set of columns.
///
/// `scores`: L x L, only i < j is read, a higher score means a more likely contact. `distances`: L
/// x L in angstrom from column_distances(), NaN if the structure lacks a residue: such pairs are
/// ignored, not counted as wrong, and L counts only columns with a residue, as CASP does with
/// residues that an experiment did not see. `columns`: the source column of each column
/// (Alignment::columns); |i - j| counts source columns, so that filtering columns does not change
/// it. Pairs with equal scores are in row order. A pair is a contact if its distance is below
/// `cutoff`. Throws UsageError for different shapes and for scores that are NaN.
ContactEvaluation evaluate(View<const double, 2> scores, View<const double, 2> distances,
                           const std::vector<Index>& columns, double cutoff);

/// The same for an alignment of several parts: pairs within the parts in all ranges, and between
/// them in a range "inter", ranked by their block-corrected scores, of the same L.
ContactEvaluation evaluate_parts(const Result& result, const ScoredParts& parts,
                                 View<const double, 2> distances, const std::vector<Index>& columns,
                                 double cutoff);

}  // namespace pleat::couplings
