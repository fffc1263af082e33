// Chain search: which exchange of equal chains brings two frames closest.
#pragma once

#include <vector>

#include "pleat/rmsd/measures/chain_permutations.h"

namespace pleat::rmsd {

/// Permutations that may be the best; those that are not listed are proven to be worse.
struct ChainCandidates {
    std::vector<ChainPermutation> permutations;
    bool is_proven = true;
};

/// How far a search goes.
struct ChainLimits {
    double tried = kMaxPermutations;  ///< so many permutations are tried one by one
    std::int64_t nodes = kMaxNodes;   ///< of more, so many partial placements
};

/// Finds the permutations within `margin` (of the sum of products that superposition reaches) of
/// the best one for frames p and q, centred and in this order.
///
/// Few permutations are tried one by one. Of more, a good one is found first: each pair of
/// chains is superposed, all chains are assigned (Hungarian method) and superposed, until nothing
/// changes. Then chains are placed one after another. With S the sum of the blocks of those that
/// are placed and R_ab that of placing chain a at b, the m chains that are left reach at most
///
///     sum over a of max over b of x(S / m + R_ab),   x: the largest root
///
/// and as much with a and b exchanged, since roots are subadditive. After too many partial
/// placements nothing is proven, and the one found first is given.
ChainCandidates find_chains(const ChainOrder& order, const double* p, const double* q,
                            double margin, const ChainLimits& limits = {});

/// The column of each row so that the sum of `values` [row, column] is the largest.
std::vector<Index> best_assignment(const std::vector<std::vector<double>>& values);

}  // namespace pleat::rmsd
