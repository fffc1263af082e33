// Tests of the CUDA kernel: against the reference, bit for bit against itself, memory, threads.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/tests/cuda_absence.h"
#include "pleat/couplings/cuda/cuda_layout.h"
#include "pleat/couplings/fit/memory_estimate.h"
#include "pleat/couplings/kernel/kernel.h"
#include "pleat/couplings/tests/kernel_agreement.h"
#include "pleat/couplings/tests/random_family.h"

namespace pleat::couplings {
namespace {

using namespace test;

class CudaKernel : public testing::Test {
protected:
    void SetUp() override {
        const std::string absence = pleat::test::cuda_absence();
        if (!absence.empty()) GTEST_SKIP() << absence;
    }
};

// Around the tiles of 64, 128, 256 and 1024 sequences and of 3, 6, 8, 12, 16, 32 and 64 columns.
const std::vector<Shape>& tile_shapes() {
    static const std::vector<Shape> shapes = {
        {47, 13, 21},  {385, 17, 21}, {1025, 5, 21}, {1100, 3, 5}, {129, 65, 21},
        {130, 50, 21}, {90, 101, 5},  {60, 6, 23},   {70, 140, 9}, {2100, 7, 21}};
    return shapes;
}

TEST_F(CudaKernel, AgreesWithTheReference) {
    std::vector<Shape> shapes = tile_shapes();
    shapes.insert(shapes.end(), large_shapes().begin(), large_shapes().end());
    expect_agreement([](const Problem& problem) { return make_cuda_kernel(problem, 0); }, shapes,
                     kCudaTolerances, kCudaWeakTolerances);
}

TEST_F(CudaKernel, AgreesWithTheReferenceOnOtherGpus) {
    expect_agreement(
        [](const Problem& problem) { return make_cuda_kernel(problem, 0, {.portable = true}); },
        tile_shapes(), kCudaTolerances, kCudaWeakTolerances);
}

TEST_F(CudaKernel, AgreesWithTheReferenceInBlocksOfColumns) {
    for (const int blocks : {2, 3}) {
        expect_agreement(
            [&](const Problem& problem) {
                return make_cuda_kernel(problem, 0, {.blocks = blocks});
            },
            {{129, 65, 21}, {90, 129, 5}, {40, 200, 9}, {50, 150, 21}}, kCudaTolerances,
            kCudaWeakTolerances);
    }
}

TEST_F(CudaKernel, AgreesCoarselyIfCoarseErrorsAreAllowed) {
    expect_agreement(
        [](Problem problem) {
            problem.objective_error = 1e-6;
            return make_cuda_kernel(problem, 0);
        },
        tile_shapes(), kCoarseTolerances, kCoarseWeakTolerances);
}

// Couplings beyond the range of float16 are a step that went too far, not a number that is wrong.
TEST_F(CudaKernel, RefusesHugeCouplings) {
    const RandomFamily family(50, 9, 21, 83);
    const auto kernel = make_cuda_kernel(family.problem(), 0);
    kernel->reserve(2);
    kernel->set_model(0, random_model(9, 21, 3000.0, 84));
    EXPECT_EQ(kernel->evaluate_plain(0, 1).objective, std::numeric_limits<double>::infinity());
    kernel->set_model(0, random_model(9, 21, 10.0, 84));
    EXPECT_TRUE(std::isfinite(kernel->evaluate_plain(0, 1).objective));
}

// A kernel after one evaluation of its vector 0: objective, norm of the gradient, both vectors.
struct Bits {
    double objective, norm;
    std::vector<float> vectors[2];
    bool operator==(const Bits&) const = default;
};

Bits evaluated_bits(const Problem& problem, const Model& point) {
    const auto kernel = make_cuda_kernel(problem, 0);
    kernel->reserve(2);
    kernel->set_model(0, point);
    Bits bits{kernel->evaluate_best_fields(0, 1).objective, inner(*kernel, 1, 1), {}};
    for (int vector = 0; vector < 2; ++vector) {
        bits.vectors[vector].resize(kernel->size());
        kernel->download(vector, bits.vectors[vector].data());
    }
    return bits;
}

TEST_F(CudaKernel, GivesTheSameBitsFromRunToRun) {
    for (const Shape& shape : {Shape{1100, 19, 21}, Shape{400, 53, 5}, Shape{5, 2, 21}}) {
        const RandomFamily family(shape.sequences, shape.columns, shape.letters, 77);
        const Model point = random_model(shape.columns, shape.letters, 0.1, 78);
        for (const double error : {1e-9, 1e-6}) {
            Problem problem = family.problem();
            problem.objective_error = error;
            const Bits first = evaluated_bits(problem, point);
            for (int repeat = 1; repeat < 5; ++repeat)
                EXPECT_TRUE(evaluated_bits(problem, point) == first);
        }
    }
}

// A vector's old contents, and a larger gradient before, leave no trace.
TEST_F(CudaKernel, DoesNotDependOnEarlierEvaluations) {
    const RandomFamily family(500, 11, 21, 79);
    const auto kernel = make_cuda_kernel(family.problem(), 0);
    kernel->reserve(3);
    const Model point = random_model(11, 21, 0.1, 80);
    kernel->set_model(0, point);
    const Evaluation first = kernel->evaluate_plain(0, 1);
    const Model gradient = kernel->model(1);
    kernel->set_model(0, random_model(11, 21, 2.0, 81));
    kernel->evaluate_best_fields(0, 1);
    kernel->set_model(0, point);
    const Evaluation again = kernel->evaluate_plain(0, 1);
    EXPECT_EQ(again.objective, first.objective);
    EXPECT_EQ(distance(kernel->model(1).pairs, gradient.pairs), 0);
    EXPECT_EQ(distance(kernel->model(1).fields, gradient.fields), 0);
}

TEST_F(CudaKernel, UsesTheAnnouncedMemory) {
    const RandomFamily family(3000, 200, 21, 82);
    const int vectors = Lbfgs::vectors_needed({.history = kHistory});
    const std::int64_t before = use_cuda_device(0).free_bytes;
    const auto kernel = make_cuda_kernel(family.problem(), 0);
    kernel->reserve(vectors);
    const std::int64_t taken = before - use_cuda_device(0).free_bytes;
    const std::int64_t announced = cuda::Layout{3000, 200, 21}.bytes(vectors);
    // Each of some 33 arrays is rounded up to 2 MiB at most.
    EXPECT_NEAR(static_cast<double>(taken), static_cast<double>(announced), 66 << 20);
}

double norm_after_evaluations(std::uint64_t seed) {
    const RandomFamily family(700, 31, 21, seed);
    const auto kernel = make_cuda_kernel(family.problem(), 0);
    kernel->reserve(2);
    kernel->set_model(0, random_model(31, 21, 0.1, seed));
    double norm = 0;
    for (int repeat = 0; repeat < 20; ++repeat) {
        kernel->evaluate_best_fields(0, 1);
        norm = inner(*kernel, 1, 1);
    }
    return norm;
}

// Two fits on one GPU from two threads, each with a stream of its own: the bits of each alone.
TEST_F(CudaKernel, WorksFromSeveralThreads) {
    const double alone[2] = {norm_after_evaluations(85), norm_after_evaluations(86)};
    double together[2] = {};
    {
        const std::jthread first([&] { together[0] = norm_after_evaluations(85); });
        const std::jthread second([&] { together[1] = norm_after_evaluations(86); });
    }
    EXPECT_EQ(together[0], alone[0]);
    EXPECT_EQ(together[1], alone[1]);
}

}  // namespace
}  // namespace pleat::couplings
