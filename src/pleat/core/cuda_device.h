// CUDA devices: which GPUs this machine offers, and taking one of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pleat/core/device.h"

namespace pleat {

/// One GPU, as the CUDA runtime numbers them.
struct CudaDevice {
    int index = 0;
    std::string name;
    int major = 0, minor = 0;  ///< compute capability
    std::int64_t total_bytes = 0, free_bytes = 0;
    /// Whether this build's kernels run on it: compute capability 9.0 and newer.
    bool usable = false;
};

/// The GPUs found, or why there is none.
struct CudaDevices {
    std::vector<CudaDevice> devices;
    std::string absence;  ///< "no NVIDIA driver"; empty where there are devices
};

/// Looks for GPUs; never throws for want of one.
CudaDevices find_cuda_devices();

/// Makes the GPU the calling thread's and returns its state. Throws DeviceError that names the
/// reason: no driver, no GPU of this number, one that is too old, a build without CUDA kernels.
CudaDevice use_cuda_device(int index);

/// Where to compute, and why there, in one line.
struct DeviceChoice {
    Device device;
    std::string reason;
};

/// The first usable GPU with `needed` bytes of free memory, else the CPU.
DeviceChoice choose_device(const CudaDevices& found, std::int64_t needed);

}  // namespace pleat
