// CUDA devices: which GPUs this machine has, using one of them, and which read each other's memory.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "pleat/core/device.h"

namespace pleat {

/// One GPU; `index` is its number in the CUDA runtime.
struct CudaDevice {
    int index = 0;
    std::string name;
    int major = 0, minor = 0;  ///< compute capability
    std::int64_t total_bytes = 0, free_bytes = 0;
    /// Whether this build's kernels run on it: compute capability 8.0 and newer.
    bool usable = false;
};

/// The GPUs of this machine, or why there are none.
struct CudaDevices {
    std::vector<CudaDevice> devices;
    std::string absence;  ///< "no NVIDIA driver"; empty if there are devices
};

/// Starts CUDA and this GPU on a thread while other work goes on: it takes 0.2 s on a machine with
/// an H200. Later uses of the GPU wait for it and report errors, such as a missing driver.
/// `one_queue`: for a process that gives the GPU one piece of work at a time; sets
/// CUDA_DEVICE_MAX_CONNECTIONS=1, which starts faster, unless the environment sets it. Call it
/// once, before any other thread runs.
///
/// Keep the returned thread until the program's work is done: it is joined when destroyed, since a
/// process must not exit while the driver starts.
[[nodiscard]] std::jthread start_cuda_early(int index, bool one_queue);

/// Starts GPUs one by one until one is usable and has `enough` bytes free; by default starts all.
/// Never throws if there is none.
CudaDevices find_cuda_devices(std::int64_t enough = std::numeric_limits<std::int64_t>::max());

/// The number of GPUs, without starting them. Never throws if there is none.
int count_cuda_devices();

/// Makes this GPU the current one of the calling thread, and returns its state. Throws DeviceError
/// with the reason: no driver, no GPU of this number, a GPU that is too old, a build without CUDA.
CudaDevice use_cuda_device(int index);

/// The chosen device, and the reason in one line.
struct DeviceChoice {
    Device device;
    std::string reason;
};

/// The first usable GPU with `needed` bytes of free memory, else the CPU.
DeviceChoice device_with_room(const CudaDevices& found, std::int64_t needed);

/// Whether kernels on each of these GPUs can read the memory of all others (NVLink, or PCI Express
/// if the machine allows it). True for one GPU. Does not start the GPUs.
bool can_read_each_other(std::span<const Device> gpus);

}  // namespace pleat
