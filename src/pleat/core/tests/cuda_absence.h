// Tests on GPUs: why there is none to run on.
#pragma once

#include <string>

#include "pleat/core/cuda/cuda_device.h"

namespace pleat::test {

/// Empty where cuda:0 can be used, else the reason to skip a test.
inline std::string cuda_absence() {
    const CudaDevices found = find_cuda_devices();
    if (found.devices.empty()) return "no CUDA device: " + found.absence;
    return found.devices[0].usable ? "" : "no CUDA device: cuda:0 is older than the kernels";
}

}  // namespace pleat::test
