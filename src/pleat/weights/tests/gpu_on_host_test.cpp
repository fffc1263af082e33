// The tests of the CUDA kernel on the host: its CTAs run thread by thread.
#include "pleat/core/tests/host_gpu.h"  // before the kernels

#include "pleat/weights/gpu_kernel.cuh"
#include "pleat/weights/tests/every_gpu.h"

namespace pleat::weights::test {
namespace {

using pleat::test::HostGpu;

std::unique_ptr<Kernel> make_on_host(const Problem& problem) {
    static pleat::test::HostGpuState state;
    return std::make_unique<cuda::GpuKernel<HostGpu>>(pack(problem.letters), problem,
                                                      HostGpu(state));
}

INSTANTIATE_TEST_SUITE_P(OnHost, EveryGpu, testing::Values(GpuMaker{"host", make_on_host, false}),
                         maker_name);

}  // namespace
}  // namespace pleat::weights::test
