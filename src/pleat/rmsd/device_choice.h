// Device choice: whether a GPU superposes, and whether it finds clusters too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pleat/core/hardware/device_choice.h"
#include "pleat/rmsd/pairs/atom_sets.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

/// Bytes of a GPU's memory that a comparison takes where no device was named; nothing where GPUs
/// have no part in it: they superpose all pairs of one set by all its atoms. `is_one_set`: frames
/// are compared with each other, not with another set or one structure.
std::optional<std::int64_t> gpu_demand(Index frames, Index atoms, const AtomSets& sets,
                                       const Parameters& parameters, bool is_one_set);

struct ClusteringDevice {
    std::string remark;     ///< which it is and why, in one line
    bool in_place = false;  ///< it finds Daura's clusters itself: see SuperposedPairs
};

/// Settles the device of `context` that superposes frames to cluster them. One that was named
/// stays, and a named GPU must have the memory to find Daura's clusters itself (DeviceError);
/// another one without that superposes alone, and a remark to `context` tells so.
ClusteringDevice settle_clustering(Index frames, Index atoms, const Parameters& parameters,
                                   bool is_daura, bool is_named, Context& context,
                                   const GpuLookup& gpus = machine_gpus());

}  // namespace pleat::rmsd
