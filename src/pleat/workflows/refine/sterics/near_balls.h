// Near balls: which of many balls are near to others, sixteen at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pleat/workflows/refine/chain/geometry.h"

namespace pleat::refine {

/// Bounding balls, compared kBlock at a time; their arrays are longer by that number than needed.
struct Balls : CoordinatesOf<float> {
    static constexpr std::size_t kBlock = 16;

    std::vector<float> radius;

    void resize_padded(std::size_t count) {
        resize(count + kBlock);
        radius.resize(count + kBlock);
    }
};

/// One ball, and those with which it is compared: at most Balls::kBlock.
struct BallQuery {
    std::uint32_t ball = 0, first = 0, count = 0;
};

/// Sets bit n of each query's bits if its ball, of `balls`, is closer than `reach` to the ball
/// `first` + n of `others`, as far as float32 can tell.
void find_near(const Balls& balls, const Balls& others, float reach,
               std::span<const BallQuery> queries, std::uint32_t* bits);

}  // namespace pleat::refine
