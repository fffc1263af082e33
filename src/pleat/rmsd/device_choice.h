// Device choice: whether GPUs compare frames, and whether they find clusters too.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "pleat/core/cuda/cuda_device.h"
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

/// Whether GPUs can read each other's memory; tests replace can_read_each_other().
using PeerLookup = std::function<bool(std::span<const Device>)>;

/// choose_clustering_device() for work that lanes share (core/ranks/lanes.h). GPUs that were named
/// find GROMOS clusters together if they can read each other's memory; a message says so if not,
/// and they only superpose. Throws DeviceError if one of them lacks the memory for its part of the
/// neighbours. If no device was named, GPUs are added as add_gpus() does, or as many as hold the
/// neighbours together if none holds them alone.
ClusteringDevice choose_clustering_gpus(Index frames, Index atoms, const Parameters& parameters,
                                        bool is_gromos, bool is_named, Context& context,
                                        const GpuLookup& gpus = machine_gpus(),
                                        const PeerLookup& can_read = can_read_each_other);

}  // namespace pleat::rmsd
