// Contact list: pairs of columns sorted by score, with Z values and probabilities.
#pragma once

#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/couplings/couplings.h"

namespace pleat::couplings {

/// A pair of columns i < j of the fitted (filtered) alignment, with its scores.
struct RankedPair {
    Index i = 0, j = 0;
    double raw = 0, corrected = 0;
    double z = 0;            ///< standard deviations above the mean, see score_scale()
    double probability = 0;  ///< of a contact, see contact_probability(); NaN for nucleic acids,
                             ///< scores without APC, pairs nearer than 6 columns, and families with
                             ///< fewer than kMinEffectiveSequences
};

/// All pairs that are at least `min_separation` columns of the source apart, the highest corrected
/// score first, equal scores in row order. `corrected`: whether the scores are after APC.
std::vector<RankedPair> rank_pairs(const Alignment& alignment, const Result& result,
                                   Index min_separation, bool corrected = true, int threads = 1);

}  // namespace pleat::couplings
