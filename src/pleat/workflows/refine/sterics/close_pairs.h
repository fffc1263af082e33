// Close pairs: points in blocks and clusters with balls around them, and the pairs that are near.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "pleat/core/view.h"
#include "pleat/workflows/refine/chain/geometry.h"

namespace pleat::refine {

/// Balls, of which kBlock are compared at a time; their arrays are that much longer than needed.
struct Balls : Coordinates {
    static constexpr std::size_t kBlock = 16;

    std::vector<double> radius;

    void resize_padded(std::size_t count) {
        resize(count + kBlock);
        radius.resize(count + kBlock);
    }
};

/// Points in the order of their blocks, of at most kBlock points each, and blocks in the order of
/// their clusters.
struct BlockedPoints {
    Balls points, blocks, clusters;
    std::vector<std::size_t> first_point;  ///< [block, and one]
    std::vector<std::size_t> first_block;  ///< [cluster, and one]
    /// [cluster]: whether its points, all in one block, may be close to each other.
    std::vector<std::uint8_t> has_own_pairs;
};

/// Sets `pairs` to the pairs of points that are closer than `reach`, the lower index first, always
/// in the same order. Pairs that are farther by a billionth of an angstrom may be among them.
void find_close_pairs(const BlockedPoints& of, double reach,
                      std::vector<std::pair<Index, Index>>& pairs);

}  // namespace pleat::refine
