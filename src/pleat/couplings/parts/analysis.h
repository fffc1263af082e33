// Analysis: base pairs, and pairs between chains on published scales, of a family that was fitted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/couplings/contacts/contact_list.h"
#include "pleat/couplings/couplings.h"
#include "pleat/couplings/parts/parts.h"
#include "pleat/phylogeny/significance.h"

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
    /// False discovery rate of such scores, by random pairing of rows; NaN without shuffles.
    double fdr = 0;
};

/// A fitted alignment with several parts, and the pairs between parts.
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

/// Sets fdr: (1 + number of null scores at least as high as the pair's) / `fits` / number of pairs
/// at least as high; then the minimum over all pairs with lower or equal scores, at most 1. The 1
/// prevents a rate of 0 with few fits. `null_scores`: block-corrected scores of all pairs between
/// parts in all fits with shuffled pairing.
void set_false_discovery_rates(std::vector<InterPair>& ranked, std::vector<double> null_scores,
                               Index fits);

/// The interpretation of scores for nucleic acids and for several chains.
struct Analysis {
    std::optional<BasePairs> base_pairs;        ///< of nucleic acids
    std::optional<ScoredParts> parts;           ///< of several parts
    std::optional<phylogeny::TreeResult> tree;  ///< with ScoreNull::tree
};

/// Information about a family besides its alignment.
struct FamilyFacts {
    Parts parts = {};                          ///< from choose_parts(); empty: one
    std::optional<BasePairs> base_pairs = {};  ///< not set: those that the scores show
    Index shuffled_fits = 0;                   ///< for false discovery rates; 0: none
    /// Returns the checkpoint file of a shuffled fit, numbered from 1; may be empty.
    std::function<std::filesystem::path(Index)> checkpoint = {};
};

/// Whether the alignment's letters are RNA or DNA.
bool is_nucleic(const Alignment& alignment);

/// Analyses the result of a fit of the alignment with these parameters. With `shuffled_fits`, that
/// many alignments in which the rows of the parts are paired at random, by the context's seed, are
/// weighted and fitted too, with ScoreNull::tree null alignments along a tree. Throws like run()
/// and compare_with_tree().
Analysis analyse(const Alignment& alignment, const Result& result, const Parameters& parameters,
                 FamilyFacts facts, const Context& context);

/// A copy in which the rows of every part except the first are permuted independently; the same
/// seed gives the same copy.
Alignment shuffle_pairing(const Alignment& alignment, const std::vector<Index>& part_of_column,
                          std::uint64_t seed);

}  // namespace pleat::couplings
