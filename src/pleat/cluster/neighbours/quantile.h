// Quantile: the distance that a share of all pairs does not exceed, found exactly in two passes.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/core/pairs/pair_source.h"

namespace pleat::cluster {

/// Counts the upper halves of the bits of distances, whose order is that of the distances whatever
/// their unit, from bands of a first pass; a second pass counts the lower halves of those that have
/// the upper half in question.
class QuantileFinder {
public:
    QuantileFinder(Index count, int threads);
    /// Makes the counts part of what `sums` saves, and adds up over ranks.
    void join(AdditiveCheckpoint& sums);
    void add(Block rows, const float* distances);
    /// The minimum distance that this share of all pairs (at least one pair) does not exceed; 0 if
    /// there is no pair. `distances` are those that were added. Ranks share the pairs. Throws
    /// Cancelled.
    float find(const PairSource& distances, double share, const Context& context) const;

private:
    Index count_;
    int threads_;
    std::vector<std::int64_t> upper_;  ///< [upper half]
};

}  // namespace pleat::cluster
