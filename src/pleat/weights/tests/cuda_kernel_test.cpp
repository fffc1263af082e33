// The CUDA kernel of the weights against the reference and the CPU, to the last unit, and when it
// is taken.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/tests/cuda_absence.h"
#include "pleat/weights/kernel.h"
#include "pleat/weights/tests/every_gpu.h"
#include "pleat/weights/tests/random_family.h"
#include "pleat/weights/weights.h"

namespace pleat::weights {
namespace {

using test::counted;
using test::EveryGpu;
using test::Shape;

Context on_gpu(int index = 0) {
    Context context;
    context.device = {Device::Kind::cuda, index};
    context.threads = 2;
    return context;
}

class CudaKernel : public testing::Test {
protected:
    void SetUp() override {
        const std::string absence = pleat::test::cuda_absence();
        if (!absence.empty()) GTEST_SKIP() << absence;
    }
};

INSTANTIATE_TEST_SUITE_P(
    Cuda, EveryGpu,
    testing::Values(test::GpuMaker{
        "gpu", [](const Problem& problem) { return make_cuda_kernel(problem, on_gpu()); }, true}),
    test::maker_name);

// No multiple of a tile of 64 sequences, a warp's 32, or a word of 64 or 32 columns; several tiles.
TEST_P(EveryGpu, CountsAnOddShape) { expect_reference({333, 37, 21}, 41); }

// Around one to five tiles a side, chunks of 256 columns, and each number of bit planes.
TEST_P(EveryGpu, AgreesWithTheReference) {
    std::uint64_t seed = 1;
    for (const Shape& shape : {Shape{2, 1, 4},
                               {9, 33, 21},
                               {63, 64, 21},
                               {65, 65, 5},
                               {129, 32, 21},
                               {300, 31, 21},
                               {420, 97, 5},
                               {600, 150, 21},
                               {257, 256, 21},
                               {255, 257, 21},
                               {200, 300, 256},
                               {150, 1100, 21},
                               {400, 1500, 5},
                               {1700, 30, 21}})
        expect_reference(shape, seed++);
}

TEST_P(EveryGpu, AgreesWithTheReferenceOnRandomFamilies) {
    std::mt19937_64 generator(17);
    for (int trial = 0; trial < (GetParam().needs_gpu ? 60 : 15); ++trial) {
        const Shape shape{static_cast<Index>(2 + generator() % 400),
                          static_cast<Index>(1 + generator() % 600),
                          std::vector{2, 5, 8, 21, 32, 256}[generator() % 6]};
        expect_reference(shape, generator());
    }
}

TEST_P(EveryGpu, CountsConstantAlignments) {
    Array<std::uint8_t, 2> letters(500, 90);
    EXPECT_EQ(counted(*make({letters, 0})), std::vector<Index>(500, 500));
    for (Index n = 0; n < 210; ++n) {
        for (std::uint8_t& code : letters[n]) code = static_cast<std::uint8_t>(n + 1);
    }
    std::vector<Index> expected(500, 290);
    std::fill_n(expected.begin(), 210, 1);
    EXPECT_EQ(counted(*make({letters, 89})), expected);
    EXPECT_EQ(counted(*make({letters, 90})), std::vector<Index>(500, 500));
}

TEST_P(EveryGpu, SeparatesTheLastAllowedDifferenceFromTheNext) {
    // Row k differs from row 0 in k columns, of which none is twice among 17 i + 3.
    for (const Index columns : {2, 31, 32, 33, 64, 65, 129, 256, 257, 500}) {
        Array<std::uint8_t, 2> letters(columns + 1, columns);
        for (Index k = 1; k <= columns; ++k) {
            for (Index i = 0; i < k; ++i) letters(k, (17 * i + 3) % columns) = 1;
        }
        for (const Index differences : {Index{0}, Index{1}, columns / 5, columns - 1}) {
            const Problem problem{letters, differences};
            ASSERT_EQ(counted(*make_reference_kernel(problem))[0], differences + 1);
            expect_reference(problem);
        }
    }
}

// Deep and wide enough for several steps, so one of them done twice or not at all would show.
TEST_F(CudaKernel, CountsTheSameAsTheCpuInSteps) {
    const auto letters = random_family(50000, 2200, 21, 23);
    const Problem problem{letters, 440};
    const auto kernel = make_cuda_kernel(problem, on_gpu());
    ASSERT_GT(kernel->step_count(), 1);
    Context cpu;
    EXPECT_EQ(counted(*kernel), counted(*make_cpu_kernel(problem, cpu)));
}

TEST_F(CudaKernel, GivesALargeAlignmentTheWeightsOfTheCpu) {
    const auto letters = random_family(60000, 20, 21, 29);
    Context gpu = on_gpu(), cpu;
    gpu.threads = 1;
    ASSERT_TRUE(gpu_pays(60000, 20, gpu.threads));
    for (const double threshold : {0.62, 0.8, 0.95, 1.0})
        EXPECT_EQ(sequence_weights(letters, threshold, gpu),
                  sequence_weights(letters, threshold, cpu));
}

TEST(GpuPays, IfTheThreadsTakeLongerThanStartingAGpu) {
    EXPECT_FALSE(gpu_pays(5000, 150, 1));
    EXPECT_TRUE(gpu_pays(50000, 150, 1));
    EXPECT_TRUE(gpu_pays(50000, 150, 2));
    EXPECT_FALSE(gpu_pays(50000, 150, 16));
    EXPECT_TRUE(gpu_pays(200000, 150, 16));
    EXPECT_FALSE(gpu_pays(0, 0, 1));
    EXPECT_TRUE(gpu_pays(Index{1} << 33, 64, 1024));  // its square has more than 64 bits
}

TEST(GpuPays, SmallAlignmentsNeedNoGpuAndLargeOnesRequireIt) {
    const Context absent = [] {
        Context context = on_gpu(999);
        context.threads = 1;
        return context;
    }();
    const auto small = random_family(30, 20, 21, 31);
    Context cpu;
    EXPECT_EQ(sequence_weights(small, 0.8, absent), sequence_weights(small, 0.8, cpu));
    const Array<std::uint8_t, 2> large(60000, 20);
    EXPECT_THROW(sequence_weights(large, 0.8, absent), DeviceError);
}

}  // namespace
}  // namespace pleat::weights
