// Daura's clustering of an ensemble on a GPU, where the neighbours of all frames fit its memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/view.h"

namespace pleat::rmsd {

/// Clusters, the largest first. Of frames not yet in a cluster the one with the most neighbours,
/// the lowest of several, and its neighbours are the next (Daura et al., Angew. Chem. Int. Ed.
/// 38:236, 1999). Frames without neighbours left come last, by their index.
struct DauraClusters {
    std::vector<std::int32_t> assignment;  ///< [frame]: cluster
    std::vector<std::int32_t> middles;     ///< [cluster]: its frame with the most neighbours
};

/// Clusters `xyz` [frame, atom, axis], angstrom, on the GPU `context.device.index`. Two frames are
/// neighbours where their RMSD after superposition, computed in float64 and rounded to float32, is
/// below `cutoff`. InputError, DeviceError where the neighbours do not fit, Cancelled.
DauraClusters daura_on_gpu(View<const float, 3> xyz, std::span<const double> weights, double cutoff,
                           const Context& context);

/// Bytes that daura_on_gpu() takes of the GPU's memory: a bit a pair, and the ensemble.
std::int64_t daura_memory(Index frames, Index atoms);

}  // namespace pleat::rmsd
