// Peers: which GPUs of a machine read each other's memory.
#pragma once

#include <span>

#include "pleat/core/device.h"

namespace pleat {

/// Whether kernels on each of these GPUs can read the memory of every other one (NVLink, or PCI
/// Express where the machine allows it). True for one GPU. Starts none of them.
bool can_read_each_other(std::span<const Device> gpus);

}  // namespace pleat
