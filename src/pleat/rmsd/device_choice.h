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
std::optional<GpuDemand> gpu_memory_and_time(const ComparedSizes& sizes, const AtomSets& sets,
                                             const Parameters& parameters);
/// The same if the user named no device; also nothing if a GPU would save too little time.
std::optional<GpuDemand> gpu_demand(const ComparedSizes& sizes, const AtomSets& sets,
                                    const Parameters& parameters);

struct ClusteringDevice {
    std::string remark;    ///< which device it is and why, in one line
    bool reduces = false;  ///< it counts and clusters the pairs itself: see PairReductions
};

/// Chooses the device of `context` that superposes frames for clustering. A device named by the
/// user is kept; a named GPU must have enough memory to find GROMOS clusters itself (DeviceError).
/// An automatically chosen GPU without that memory only superposes, and a message says so.
ClusteringDevice choose_clustering_device(Index frames, Index atoms, const Parameters& parameters,
                                          bool is_gromos, bool is_named, Context& context,
                                          const GpuLookup& gpus = machine_gpus());

/// Whether GPUs can read each other's memory; tests replace can_read_each_other().
using PeerLookup = std::function<bool(std::span<const Device>)>;

/// choose_clustering_device() for work that lanes share (core/ranks/lanes.h). GPUs that the user
/// named find GROMOS clusters together if they can read each other's memory; otherwise they only
/// superpose, and a message says so. Throws DeviceError if one lacks the memory. If the user named
/// no device, adds GPUs as add_gpus() does.
ClusteringDevice choose_clustering_gpus(Index frames, Index atoms, const Parameters& parameters,
                                        bool is_gromos, bool is_named, Context& context,
                                        const GpuLookup& gpus = machine_gpus(),
                                        const PeerLookup& have_peer_access = can_read_each_other);

}  // namespace pleat::rmsd
