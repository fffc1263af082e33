// Close pairs: points in blocks and clusters with balls around them, and the pairs that are near.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "pleat/core/view.h"
#include "pleat/workflows/refine/sterics/near_balls.h"

namespace pleat::refine {

/// Points in the order of their blocks, of at most Balls::kBlock points each, and blocks in the
/// order of their clusters.
struct BlockedPoints {
    Balls points, blocks, clusters;
    std::vector<std::uint32_t> first_point;  ///< [block, and one]
    std::vector<std::uint32_t> first_block;  ///< [cluster, and one]
    /// [cluster]: whether its points, all in one block, may be close to each other.
    std::vector<std::uint8_t> has_own_pairs;
};

/// Finds pairs of points that are close, by balls around clusters and then around their blocks.
class ClosePairSearch {
public:
    /// The pairs of points that are closer than `reach`, the lower index first, always in the same
    /// order; valid until the next call. Pairs that are farther, as far as float32 has rounded
    /// their positions, may be among them.
    const std::vector<std::pair<Index, Index>>& find(const BlockedPoints& of, double reach);

private:
    template <class Use>
    void for_each_near(const Balls& balls, const Balls& others, float reach, const Use& use);

    std::vector<BallQuery> queries_, next_;
    std::vector<std::uint32_t> bits_;  ///< [query]
    std::vector<std::pair<Index, Index>> pairs_;
};

}  // namespace pleat::refine
