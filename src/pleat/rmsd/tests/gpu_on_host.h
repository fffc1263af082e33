// The GPU's kernels of rmsd on the host.
#pragma once

#include "pleat/core/tests/host_gpu.h"  // before the kernels

#include "pleat/rmsd/cuda/gpu_gromos.cuh"
#include "pleat/rmsd/cuda/gpu_kernel.cuh"
#include "pleat/rmsd/cuda/pair_kernel.cuh"

namespace pleat::rmsd::test {

using pleat::test::HostGpu;
using pleat::test::HostGpuState;

using KernelOnHost = cuda::GpuKernel<HostGpu>;
using GromosOnHost = cuda::GpuGromos<HostGpu>;

}  // namespace pleat::rmsd::test
