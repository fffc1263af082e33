// Device choice: the device that a run takes where none was named.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "pleat/core/context.h"
#include "pleat/core/cuda/cuda_device.h"

namespace pleat {

/// What tells of the machine's GPUs; tests put others in its place.
struct GpuLookup {
    /// The first usable one with so many bytes free, else the CPU.
    std::function<DeviceChoice(std::int64_t bytes)> choose;
    /// Bytes free on the one of this number. DeviceError where there is none.
    std::function<std::int64_t(int index)> free_bytes;
};
/// The GPUs that this machine has.
GpuLookup machine_gpus();

/// Leaves `context.device` where one was named; else makes it the first usable GPU with `gpu_bytes`
/// free, or the CPU. Returns which it is, and why, in one line.
std::string choose_device(bool is_named, std::int64_t gpu_bytes, Context& context,
                          const GpuLookup& gpus = machine_gpus());

}  // namespace pleat
