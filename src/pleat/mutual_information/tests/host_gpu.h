// Mutual information on a GPU of the tests, with the shared memory that its kernels declare.
#pragma once

#include "pleat/core/tests/host_gpu.h"  // before the kernels

namespace pleat::mutual_information::cuda {
alignas(16) inline long long shared_f[(48 << 10) / 8];
alignas(16) inline std::uint32_t shared_words[(227 << 10) / 4];
}  // namespace pleat::mutual_information::cuda

#include "pleat/mutual_information/gpu_kernel.cuh"

namespace pleat::mutual_information {
using pleat::test::HostGpu;
using pleat::test::HostGpuState;
}  // namespace pleat::mutual_information
