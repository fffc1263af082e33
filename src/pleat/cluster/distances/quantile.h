// Quantile: the distance that a share of all pairs does not exceed, found exactly in two passes.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/cluster/distances/distances.h"
#include "pleat/core/context.h"

namespace pleat::cluster {

/// Counts the upper halves of distances' bits, whose order is that of the distances whatever their
/// unit, from bands of a first pass; a second one counts the lower halves of those that share the
/// upper half looked for. 0.5 MB a thread.
class QuantileFinder {
public:
    QuantileFinder(Index count, int threads);
    void add(Block rows, const float* distances);
    /// The least distance that this share of all pairs, and one at least, does not exceed; 0 where
    /// there is no pair. `distances` are those that were added. Cancelled.
    float find(const Distances& distances, double share) const;

private:
    Index count_;
    int threads_;
    std::vector<std::vector<std::int64_t>> upper_;  ///< a thread each
};

}  // namespace pleat::cluster
