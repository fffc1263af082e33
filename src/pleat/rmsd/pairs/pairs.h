// Pairs: the place of a pair of frames in a condensed matrix.
#pragma once

#include "pleat/core/view.h"
#include "pleat/rmsd/cuda/host_device.h"

namespace pleat::rmsd {

/// Pairs i < j of `frames` frames, in the condensed order: (0, 1), (0, 2), ..., (1, 2), ...
PLEAT_HOST_DEVICE constexpr Index pairs_before(Index row, Index frames) {
    return row * frames - row * (row + 1) / 2;
}

}  // namespace pleat::rmsd
