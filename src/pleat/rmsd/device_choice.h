// Device choice: whether a GPU superposes, and whether it finds clusters too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pleat/core/hardware/device_choice.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

/// What a comparison needs of GPUs if no device was named; nothing if it does not use them: they
/// superpose all pairs of one set by all its atoms. `is_one_set`: frames are compared with each
/// other, not with another set or one structure.
std::optional<GpuDemand> gpu_demand(Index frames, Index atoms, const AtomSets& sets,
                                    const Parameters& parameters, bool is_one_set);

struct ClusteringDevice {
    std::string remark;    ///< which device it is and why, in one line
    bool reduces = false;  ///< it counts and clusters the pairs itself: see PairReductions
};

/// Chooses the device of `context` that superposes frames to cluster them. A device that was named
/// stays, and a named GPU must have the memory to find GROMOS clusters itself (DeviceError);
/// another GPU without that memory only superposes, and a message to `context` says so.
ClusteringDevice choose_clustering_device(Index frames, Index atoms, const Parameters& parameters,
                                          bool is_gromos, bool is_named, Context& context,
                                          const GpuLookup& gpus = machine_gpus());

}  // namespace pleat::rmsd
