// Device choice: the device that a run uses if the user named none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "pleat/core/context.h"
#include "pleat/core/cuda/cuda_device.h"

namespace pleat {

/// Functions that look up the GPUs of this machine; tests replace them.
struct GpuLookup {
    /// The first usable GPU with at least `bytes` free, else the CPU.
    std::function<DeviceChoice(std::int64_t bytes)> choose;
    /// Bytes free on this GPU. Throws DeviceError if it is missing.
    std::function<std::int64_t(int index)> free_bytes;
    /// All GPUs with their memory; starts each of them.
    std::function<CudaDevices()> all = {};
    /// The number of GPUs; starts none of them.
    std::function<int()> count = {};
};
GpuLookup machine_gpus();

/// Sets `context.device` and, for several devices, `context.lanes` from what a user wrote: one
/// device as Device::parse() has it, "cuda:all", "cuda:0,2" or a list such as "cpu,cpu". Throws
/// UsageError for another text, devices of two kinds, or a GPU named twice; DeviceError if
/// "cuda:all" finds no GPU.
void name_devices(std::string_view text, Context& context, const GpuLookup& gpus = machine_gpus());

/// Divides work of `demand.seconds` on `context.device`, an automatically chosen GPU, among further
/// GPUs, as long as each saves more time than its start takes. Uses only GPUs with enough memory
/// that no other program uses. Returns a line about the added GPUs, empty if there are none.
std::string add_gpus(const GpuDemand& demand, Context& context,
                     const GpuLookup& gpus = machine_gpus());

/// Keeps `context.device` if the user named it; else sets it to the first usable GPU with
/// `gpu_bytes` free, or the CPU. Returns the device and the reason in one line.
std::string choose_device(bool is_named, std::int64_t gpu_bytes, Context& context,
                          const GpuLookup& gpus = machine_gpus());

}  // namespace pleat
