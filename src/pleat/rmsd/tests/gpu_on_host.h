// The GPU's kernels of rmsd on the host.
#pragma once

#include "pleat/core/tests/host_gpu.h"  // before the kernels

#include "pleat/rmsd/cuda/gpu_gromos.cuh"
#include "pleat/rmsd/cuda/gpu_kernel.cuh"

namespace pleat::rmsd::test {

using pleat::test::HostGpu;
using pleat::test::HostGpuState;

/// The host as one of several GPUs (core/cuda/peer_gpu.cuh): all memory is one, and work ends where
/// it is launched.
class PeerOnHost : public HostGpu {
public:
    using HostGpu::HostGpu;
    struct Event {};
    void use() const {}
    void read_memory_of(const PeerOnHost&) const {}
    void record(const Event&) const {}
    void wait_for(const Event&) const {}
};

using KernelOnHost = cuda::GpuKernel<HostGpu>;
using GromosOnHost = cuda::GpuGromos<PeerOnHost>;

}  // namespace pleat::rmsd::test
