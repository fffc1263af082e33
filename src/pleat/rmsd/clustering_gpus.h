// Clustering GPUs: which GPUs find the GROMOS clusters of all frames together.
#pragma once

#include <functional>
#include <span>

#include "pleat/core/cuda/cuda_device.h"
#include "pleat/rmsd/device_choice.h"

namespace pleat::rmsd {

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
