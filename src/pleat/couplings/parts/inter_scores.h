// Scores between parts: pairs of columns of two chains, corrected by block, on published scales.
#pragma once

#include <vector>

#include "pleat/core/array.h"
#include "pleat/couplings/couplings.h"
#include "pleat/couplings/parts/parts.h"

namespace pleat::couplings {

/// A pair of fitted columns i < j of different parts.
struct InterPair {
    Index i = 0, j = 0;
    double raw = 0;
    double corrected = 0;        ///< Result::corrected, over all columns
    double block_corrected = 0;  ///< block_correction()
    double z = 0;                ///< of block_corrected, over the pairs of the same two parts
    double evcomplex =
        0;  ///< of the correction over all columns; NaN for families that are too shallow
    double evcomplex_block = 0;  ///< of `block_corrected`
    double gremlin = 0;          ///< of `block_corrected`
    /// Fraction of such scores that shuffled pairing explains; NaN without shuffles.
    double fdr = 0;
};

/// Several parts of a fitted alignment, and the pairs between them.
struct ScoredParts {
    Parts parts;
    std::vector<Index> part_of_column;
    std::vector<InterPair> pairs;  ///< from rank_inter_pairs()
};

/// Average product correction by block (Ovchinnikov et al. 2014): for i in part A and j in part B
/// s_ij - <s_ik>_{k in B} <s_kj>_{k in A} / <s_kl>_{k in A, l in B}, and within a part with all
/// three means over its columns, the zero diagonal included. With one part the average product
/// correction before its shift. The diagonal is 0.
Array<double, 2> block_correction(View<const double, 2> raw,
                                  const std::vector<Index>& part_of_column);

/// All pairs i < j between parts, which follow each other in the columns, the highest
/// block-corrected score first, equal ones in row order, with for each two parts (L: columns of
/// both)
///   EVcomplex score (Hopf et al. 2014): Q / (1 + (N_eff / L)^(-1/2)), Q the score divided by the
///   absolute minimum of all between the two; only where N_eff / L is above 0.3,
///   GREMLIN score (Ovchinnikov et al. 2014): 1 / (1 + exp(-9.77 (x - mu))), mu = 0.47^(N / L + 1)
///   + 0.96, x the square root of the score divided by the mean of the best 3 L / 2 of both chains
///   and between, times the best pair's GREMLIN score for all but the best pair.
/// `sequences`: N. fdr is not set (NaN).
std::vector<InterPair> rank_inter_pairs(const Result& result, Index sequences,
                                        const std::vector<Index>& columns,
                                        const std::vector<Index>& part_of_column);

/// Sets fdr: (1 + null scores that are at least the pair's) / `fits` / pairs with at least its
/// score, the minimum over pairs with at most its score, at most 1. The 1 keeps few fits from
/// promising a rate of 0. `null_scores`: block-corrected scores of all pairs between parts in all
/// fits of shuffled pairing.
void set_false_discovery_rates(std::vector<InterPair>& ranked, std::vector<double> null_scores,
                               Index fits);

}  // namespace pleat::couplings
