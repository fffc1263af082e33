// CUDA devices: which GPUs this machine offers, and taking one of them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "pleat/core/device.h"

namespace pleat {

/// One GPU, as the CUDA runtime numbers them.
struct CudaDevice {
    int index = 0;
    std::string name;
    int major = 0, minor = 0;  ///< compute capability
    std::int64_t total_bytes = 0, free_bytes = 0;
    /// Whether this build's kernels run on it: compute capability 8.0 and newer.
    bool usable = false;
};

/// The GPUs found, or why there is none.
struct CudaDevices {
    std::vector<CudaDevice> devices;
    std::string absence;  ///< "no NVIDIA driver"; empty where there are devices
};

/// Begins to start CUDA and the GPU of this number in a thread of its own, so that other work may
/// overlap it: 0.2 s on a machine with an H200. Every later use of the GPU waits by itself; what
/// goes wrong, the lack of a driver included, is found and told there. `one_queue`: for a process
/// that hands the GPU one piece of work at a time; sets CUDA_DEVICE_MAX_CONNECTIONS=1 where the
/// environment does not set it, which starts faster. Call it once, before any other thread runs.
///
/// Keep the thread until the program's work is done: it is joined when destroyed, since a process
/// must not exit while the driver starts.
[[nodiscard]] std::jthread start_cuda_early(int index, bool one_queue);

/// Looks for GPUs until one is usable and has this many bytes free, by default through all of them
/// (each that is looked at is started); never throws for want of one.
CudaDevices find_cuda_devices(std::int64_t enough = std::numeric_limits<std::int64_t>::max());

/// How many GPUs there are, without starting any; never throws for want of one.
int count_cuda_devices();

/// Makes the GPU the calling thread's and returns its state. Throws DeviceError that names the
/// reason: no driver, no GPU of this number, one that is too old, a build without CUDA kernels.
CudaDevice use_cuda_device(int index);

/// Where to compute, and why there, in one line.
struct DeviceChoice {
    Device device;
    std::string reason;
};

/// The first usable GPU with `needed` bytes of free memory, else the CPU.
DeviceChoice device_with_room(const CudaDevices& found, std::int64_t needed);

}  // namespace pleat
