// Chain permutations: the exchange of equal chains that brings two structures closest.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "pleat/rmsd/measures/comparison.h"

namespace pleat::rmsd {

/// Chains of atoms in the order of ChainOrder::order.
struct ChainOrder {
    struct Group {
        Index first = 0;  ///< of the atoms of its first chain; the others follow
        Index atoms = 0;  ///< of each chain
        Index chains = 0;
    };
    std::vector<Index> order;  ///< [position]: the atom there; chains first, then all others
    std::vector<Group> groups;
    Index others = 0;  ///< position of the first atom that is in no group
    Index chains = 0;  ///< of all groups

    ChainOrder(const AtomSets& sets, Index atoms);
};

/// For each chain of all groups the chain of its group whose place it takes.
using ChainPermutation = std::vector<std::int8_t>;

/// The RMSD of pairs of frames, the least over all permutations of equal chains, in float64: a
/// metric, as permutations are isometries. A frame's atoms are in the order of a ChainOrder.
///
/// The covariance of a permutation is a sum of blocks of chains, so all blocks are computed once
/// per pair. With the largest eigenvalue x of its key matrix RMSD^2 = (|p|^2 + |q|^2 - 2 x) / W,
/// and x <= sqrt(3) |R| (Frobenius): Newton's iteration starts there, falls towards x, and ends
/// when it is below the best x found. Permutations that come within 1e-6 of the best are compared
/// by the rotated coordinates themselves. Of more than kMaxPermutations most are ruled out before
/// (chain_search.h).
class ChainRmsd final : public Comparison {
public:
    /// Rows are the frames from `first_row` on, columns those from 0 on. `allows_unproven`: see
    /// Accuracy. `is_reference`: up to kMaxPermutations every one is superposed, without blocks and
    /// bounds.
    ChainRmsd(FrameSet frames, ChainOrder order, Index first_row, bool allows_unproven,
              bool is_reference);

    void block(Block rows, Block columns, float* values) const override;
    double cost() const override;
    Index unproven() const override { return unproven_; }
    /// The RMSD of a row and a column. `best` (may be null): chain k of the row comes closest to
    /// chain best[k] of the column.
    double value(Index row, Index column, ChainPermutation* best = nullptr) const;

private:
    double permutations() const;
    double residual(const double* p, const double* q, const ChainPermutation& permutation) const;

    FrameSet frames_;
    ChainOrder order_;
    Index first_row_;
    bool allows_unproven_, tries_all_ = false;
    mutable std::atomic<Index> unproven_ = 0;
};

/// The frames of several sides one after another, centred, with their atoms in this order. Throws
/// as centre().
Frames centre_in_order(const std::vector<View<const float, 3>>& sides, const ChainOrder& order,
                       const std::vector<double>& weights, int threads);

}  // namespace pleat::rmsd
