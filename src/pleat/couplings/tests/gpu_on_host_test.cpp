// The CUDA kernel on the host, thread by thread: against the reference, and all that kernels
// promise.
#include "pleat/core/tests/host_gpu.h"  // before the kernels

#include "pleat/couplings/cuda/gpu_kernel.cuh"
#include "pleat/couplings/cuda/one_hot_portable.cuh"
#include "pleat/couplings/tests/every_kernel.h"
#include "pleat/couplings/tests/kernel_agreement.h"
#include "pleat/couplings/tests/random_family.h"

namespace pleat::couplings::test {
namespace {

class HostGpu : public pleat::test::HostGpu {
public:
    using pleat::test::HostGpu::HostGpu;
    void multiply(const cuda::OneHotProduct& product) const {
        cuda::multiply_portably(*this, product);
    }
};

std::unique_ptr<Kernel> make_on_host(const Problem& problem, int blocks) {
    static pleat::test::HostGpuState state;
    return std::make_unique<cuda::GpuKernel<HostGpu>>(problem, blocks, HostGpu(state));
}
std::unique_ptr<Kernel> make_on_host(const Problem& problem) { return make_on_host(problem, 0); }

const KernelMaker kOnHost{
    "gpu_on_host", [](const Problem& problem) { return make_on_host(problem); }, false, true};
INSTANTIATE_TEST_SUITE_P(OnHost, EveryKernel, testing::Values(kOnHost), maker_name);

// Less and more than a tile of 128 sequences, and letters for which nothing is a constant.
TEST(GpuOnHost, AgreesWithTheReference) {
    expect_agreement([](const Problem& problem) { return make_on_host(problem); },
                     {{2, 2, 21}, {40, 12, 5}, {130, 5, 21}, {30, 4, 24}}, kCudaTolerances,
                     kCudaWeakTolerances);
}

TEST(GpuOnHost, AgreesCoarselyIfCoarseErrorsAreAllowed) {
    expect_agreement(
        [](Problem problem) {
            problem.objective_error = 1e-6;
            return make_on_host(problem);
        },
        {{60, 5, 8}}, kCoarseTolerances, kCoarseWeakTolerances);
}

TEST(GpuOnHost, AgreesWithTheReferenceInBlocksOfColumns) {
    expect_agreement([](const Problem& problem) { return make_on_host(problem, 2); },
                     awkward_family({20, 66, 5}, 0, 7), true, true, 0.1, 7, kCudaTolerances);
}

TEST(GpuOnHost, TakesNoMoreMemoryThanItsLayout) {
    const RandomFamily family(50, 9, 21, 5);
    pleat::test::HostGpuState state;
    {
        cuda::GpuKernel<HostGpu> kernel(family.problem(), 0, HostGpu(state));
        kernel.reserve(13);
        EXPECT_LE(state.max_used_bytes, cuda::bytes_needed(cuda::Layout{50, 9, 21}, 13));
    }
    EXPECT_EQ(state.used_bytes, 0);
}

}  // namespace
}  // namespace pleat::couplings::test
