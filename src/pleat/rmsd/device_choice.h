// Device choice: whether a GPU compares frames, and whether it finds clusters too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pleat/core/hardware/device_choice.h"
#include "pleat/rmsd/estimate.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

/// GPU memory and time of a comparison; nothing if GPUs do not compute it.
std::optional<GpuDemand> gpu_needs(const ComparedSizes& sizes, const AtomSets& sets,
                                   const Parameters& parameters);
/// The same if no device was named: nothing, too, if a GPU has too little to gain.
std::optional<GpuDemand> gpu_demand(const ComparedSizes& sizes, const AtomSets& sets,
                                    const Parameters& parameters);

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
