// Device choice: the device that a run uses if the user named none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "pleat/core/context.h"
#include "pleat/core/cuda/cuda_device.h"

namespace pleat {

/// Functions that look up the GPUs of this machine; tests replace them.
struct GpuLookup {
    /// The first usable GPU with at least `bytes` free, else the CPU.
    std::function<DeviceChoice(std::int64_t bytes)> choose;
    /// Bytes free on this GPU. Throws DeviceError if it is missing.
    std::function<std::int64_t(int index)> free_bytes;
};
/// The GPUs that this machine has.
GpuLookup machine_gpus();

/// Keeps `context.device` if the user named it; else sets it to the first usable GPU with
/// `gpu_bytes` free, or the CPU. Returns the device and the reason in one line.
std::string choose_device(bool is_named, std::int64_t gpu_bytes, Context& context,
                          const GpuLookup& gpus = machine_gpus());

}  // namespace pleat
