// Failures of the CUDA runtime as errors of pleat.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "pleat/core/error.h"

namespace pleat::cuda {

/// Throws DeviceError unless the call succeeded: "CUDA: cannot allocate 3.1 GiB: out of memory".
inline void check(cudaError_t status, const std::string& what) {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // so that a later call is not blamed for this one
    throw DeviceError("CUDA: " + what + ": " + cudaGetErrorString(status));
}

}  // namespace pleat::cuda
