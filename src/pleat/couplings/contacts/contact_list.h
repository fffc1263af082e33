// Contact list: pairs of columns sorted by score, with Z values and probabilities.
#pragma once

#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/couplings/contacts/base_pairs.h"
#include "pleat/couplings/couplings.h"

namespace pleat::couplings {

/// A pair of columns i < j of the fitted (filtered) alignment, with its scores.
struct RankedPair {
    Index i = 0, j = 0;
    double raw = 0, corrected = 0;
    double z = 0;            ///< standard deviations above the mean, see score_scale()
    double probability = 0;  ///< of a contact, see calibration.h; NaN where has_probabilities() is
                             ///< false, for pairs nearer than 6 columns (nucleic acids: 5), and
                             ///< for proteins with fewer than kMinEffectiveSequences
    PairClass pair_class = PairClass::unknown;
};

/// Whether scores that are made with these parameters have probabilities: those after APC, with the
/// alphabet's own norm.
bool has_probabilities(const Parameters& parameters, const Alphabet& alphabet);

/// Which pairs are listed, and how.
struct ListOptions {
    Index min_separation = 6;               ///< in columns of the source
    bool is_calibrated = true;              ///< has_probabilities()
    const BasePairs* base_pairs = nullptr;  ///< null: pairs have no class
    /// parts_of_columns(); empty: one part. Pairs between parts are listed at any separation.
    std::vector<Index> part_of_column = {};
    int threads = 1;
};

/// All pairs that are at least `min_separation` columns of the source apart, the highest corrected
/// score first, equal scores in row order.
std::vector<RankedPair> rank_pairs(const Alignment& alignment, const Result& result,
                                   const ListOptions& options);

}  // namespace pleat::couplings
