// The CUDA kernels, thread by thread on the host, against float64 sums over pairs of bodies.
#include "pleat/core/tests/host_gpu.h"  // before the kernels

#include <gtest/gtest.h>

#include <cmath>

#include "every_gpu.h"
#include "every_kernel.h"
#include "pleat/saxs/cuda/gpu_kernel.cuh"
#include "pleat/saxs/cuda/multipoles.cuh"
#include "pleat/saxs/debye/body_pairs.h"
#include "pleat/saxs/debye/sorted_scatterers.h"
#include "random_model.h"

namespace pleat::saxs {
namespace {

using pleat::test::HostGpu;
using pleat::test::HostGpuState;
using test::EveryGpu;
using test::GpuMaker;
using test::profiles_of;
using test::random_scatterers;
using test::RandomScatterers;
using test::RandomShape;

struct Bodies {
    RandomScatterers given;
    SortedScatterers sorted;
    std::vector<PairJob> jobs;
    Array<float, 3> xyz, scales;  ///< in sorted order
};

Bodies bodies_of(const RandomShape& shape, Index count) {
    Bodies result{random_scatterers(shape), {}, {}, {}, {}};
    std::vector<std::int32_t> bodies;
    for (Index i = 0; i < shape.scatterers; ++i)
        bodies.push_back(static_cast<std::int32_t>(i * count / shape.scatterers));
    result.sorted = sort_by_body(result.given.model, bodies, count);
    for (std::int32_t set = 0; set < shape.frames; ++set)
        for (std::int32_t a = 0; a < count; ++a)
            for (std::int32_t b = a; b < count; ++b) result.jobs.push_back({set, a, b});
    const auto arrange = [&](const Array<float, 3>& from) {
        Array<float, 3> to(from.extent(0), from.extent(1), from.extent(2));
        for (Index frame = 0; frame < from.extent(0); ++frame)
            for (Index row = 0; row < from.extent(1); ++row)
                for (Index n = 0; n < from.extent(2); ++n)
                    to(frame, row, n) =
                        from(frame, row, result.sorted.order[static_cast<std::size_t>(n)]);
        return to;
    };
    result.xyz = arrange(result.given.xyz);
    result.scales = arrange(result.given.scales);
    return result;
}

/// `found` within what float32 has of the float64 sums.
void expect_sums(const Bodies& bodies, const Array<double, 3>& found) {
    const Model& model = bodies.given.model;
    Array<double, 3> expected(static_cast<Index>(bodies.jobs.size()), model.pair_count(),
                              model.q_count());
    make_cpu_body_pairs(model, bodies.sorted, Precision::float64, {})
        ->evaluate(bodies.xyz, bodies.scales, bodies.jobs, expected);
    for (Index job = 0; job < found.extent(0); ++job) {
        for (Index pair = 0; pair < found.extent(1); ++pair) {
            // Of the largest value: sums of a few pairs may vanish at some q.
            double largest = 0.0;
            for (Index k = 0; k < found.extent(2); ++k)
                largest = std::max(largest, std::fabs(expected(job, pair, k)));
            for (Index k = 0; k < found.extent(2); ++k) {
                ASSERT_NEAR(found(job, pair, k), expected(job, pair, k), 2e-6 * largest)
                    << "job " << job << " pair " << pair << " q " << k;
            }
        }
    }
}

/// Twice each: small calls replay graphs, and memory keeps what an earlier call left.
void expect_sums(const RandomShape& shape, Index count, Index max_sum_bytes = cuda::kSumBytes) {
    SCOPED_TRACE(std::to_string(shape.scatterers) + " scatterers, " + std::to_string(count) +
                 " bodies");
    const Bodies bodies = bodies_of(shape, count);
    const Model& model = bodies.given.model;
    for (const bool small_calls : {true, false}) {
        HostGpuState state;
        if (!small_calls) state.shared_bytes = 48 << 10;  // too little for them
        {
            cuda::GpuBodyPairs<HostGpu> pairs(model, bodies.sorted, HostGpu(state), max_sum_bytes);
            for (int repeat = 0; repeat < 2; ++repeat) {
                Array<double, 3> found(static_cast<Index>(bodies.jobs.size()), model.pair_count(),
                                       model.q_count());
                pairs.evaluate(bodies.xyz, bodies.scales, bodies.jobs, found);
                expect_sums(bodies, found);
            }
        }
        EXPECT_EQ(state.launches["sum over tasks"] > 0, !small_calls);
        EXPECT_EQ(state.used_bytes, 0);
    }
}

template <class Real>
std::unique_ptr<Kernel> make_on_host(const Model& model) {
    static HostGpuState state;
    return std::make_unique<cuda::GpuKernel<HostGpu, Real>>(model, HostGpu(state), 2);
}

/// So little memory that a call has a frame or two.
std::unique_ptr<Kernel> make_multipoles_on_host(const Model& model) {
    static HostGpuState state;
    return std::make_unique<cuda::GpuMultipoles<HostGpu>>(model, HostGpu(state), 2,
                                                          make_on_host<float>(model), 1 << 20);
}

INSTANTIATE_TEST_SUITE_P(
    OnHost, EveryGpu,
    testing::Values(GpuMaker{"host", make_on_host<float>, false},
                    GpuMaker{"host_multipoles", make_multipoles_on_host, false},
                    GpuMaker{"host_float64", make_on_host<double>, false, Precision::float64}),
    test::maker_name);

TEST(GpuOnHost, SumsOverPairsOfBodies) {
    expect_sums({.scatterers = 1, .types = 1}, 1);
    expect_sums({.scatterers = 2, .types = 1}, 2);
    expect_sums({.scatterers = 31, .types = 2, .q = 20, .frames = 2}, 1);
    expect_sums({.scatterers = 40, .types = 3, .q = 52, .first = 0.01}, 3);
    expect_sums({.scatterers = 45, .types = 4, .q = 103, .step = 0.007}, 2);
    expect_sums({.scatterers = 200, .types = 1, .q = 51}, 1);
    expect_sums({.scatterers = 30, .types = 2, .q = 55, .even = false}, 2);
}

TEST(GpuOnHost, SumsOverScaledChannels) {
    expect_sums({.scatterers = 30, .types = 2, .channels = 3, .scaled = 1, .q = 20}, 2);
    expect_sums({.scatterers = 24, .types = 2, .channels = 4, .scaled = 1, .q = 20}, 1);
    expect_sums({.scatterers = 24, .types = 2, .channels = 2, .scaled = 2, .q = 20}, 1);
    expect_sums(
        {.scatterers = 24, .types = 2, .channels = 2, .scaled = 2, .q = 20, .shares_scales = true},
        2);
}

// So little memory that each launch sums two tasks of a job.
TEST(GpuOnHost, AddsTheSumsOfSeveralLaunches) {
    expect_sums({.scatterers = 70, .types = 2, .q = 51, .frames = 2}, 2, 2 * 4 * cuda::kTaskSums);
}

// More tasks of a job than one CTA adds.
TEST(GpuOnHost, AddsManyTasksInSlices) { expect_sums({.scatterers = 60, .types = 20, .q = 40}, 1); }

// Half turns are told right up to the largest phase, whose last bits are quarters of a turn.
TEST(GpuOnHost, ReduceEveryPhase) {
    for (const float r : {0.0f, 0.125f, 0.25f, 0.375f, 0.625f, 0.75f, 0.875f, 1.125f, 12345.375f,
                          1048575.875f, 1048576.375f, 2097150.75f, 2097151.25f, 2097151.5f}) {
        const cuda::Wave<float> wave = cuda::wave_of(r, {1.0f, 0.0f});
        const double angle = kTurn * (double{r} - std::floor(double{r}));
        EXPECT_NEAR(wave.sine, std::sin(angle), 3e-7) << r;
        EXPECT_NEAR(wave.cosine, std::cos(angle), 3e-7) << r;
        const cuda::Wave<double> exact = cuda::wave_of(double{r}, {1.0, 0.0});
        EXPECT_NEAR(exact.sine, std::sin(angle), 1e-13) << r;
        EXPECT_NEAR(exact.cosine, std::cos(angle), 1e-13) << r;
    }
}

// Every pair of a task is met once, whatever its shape and wherever a warp stops to hold more.
TEST(GpuOnHost, MeetEveryPairOnce) {
    for (const int rows : {1, 2, 3, 31, 32}) {
        for (const int columns : {1, 2, 5, 32, 33, 64, 100, 128}) {
            for (const int inner : {0, 1}) {
                if (inner != 0 && rows != columns) continue;
                const cuda::Task task{100, inner != 0 ? 100 : 1000, rows, columns, 0, 0, inner};
                std::vector<int> met(static_cast<std::size_t>(rows * columns));
                for (int lane = 0; lane < cuda::kLanes; ++lane)
                    cuda::for_pairs(task, columns, lane, [&](int a, int b) {
                        int row = inner != 0 ? b % columns : b - cuda::kKeptColumns, column = a;
                        if (inner != 0 && row > column) std::swap(row, column);
                        ++met.at(static_cast<std::size_t>(row * columns + column));
                    });
                for (int n = 0; n < rows * columns; ++n)
                    EXPECT_EQ(met[static_cast<std::size_t>(n)],
                              inner != 0 ? n % columns > n / columns : 1);
            }
        }
    }
}

// Fits of many frames see errors that differ from frame to frame: sums of thousands of scatterers
// in float32 would leave 4e-7 here.
TEST(GpuOnHost, MultipolesKeepTheDigitsOfManyScatterers) {
    const RandomScatterers given = random_scatterers(
        {.scatterers = 4000, .types = 2, .q = 10, .step = 0.01, .frames = 4, .spread = 10});
    HostGpuState state;
    cuda::GpuMultipoles<HostGpu> multipoles(given.model, HostGpu(state), 2, nullptr);
    const Array<double, 3> expected =
        profiles_of(*make_multipole_kernel(given.model, Precision::float64, {}), given.model,
                    given.xyz, given.scales);
    const Array<double, 3> found = profiles_of(multipoles, given.model, given.xyz, given.scales);
    double square = 0;
    for (Index n = 0; n < found.size(); ++n)
        square += std::pow(found.data()[n] / expected.data()[n] - 1, 2);
    EXPECT_LE(std::sqrt(square / static_cast<double>(found.size())), 2e-7);
}

}  // namespace
}  // namespace pleat::saxs
