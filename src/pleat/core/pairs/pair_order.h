// Pair order: the position of a pair of items in a condensed matrix.
#pragma once

#include "pleat/core/cuda/host_device.h"
#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat {

/// How many pairs come before those of item `row` in the condensed order of SciPy: (0, 1), (0, 2),
/// ..., (1, 2), ... The pair i < j of `count` items has the position
/// pairs_before(i, count) + j - i - 1, and there are pairs_before(count, count) pairs.
PLEAT_HOST_DEVICE constexpr Index pairs_before(Index row, Index count) {
    return row * count - row * (row + 1) / 2;
}

}  // namespace pleat

#pragma GCC visibility pop
