// Measures on a GPU, run thread by thread on the host, against their definitions.
#include "gpu_on_host.h"  // before all that it imitates

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "pleat/rmsd/cuda/gpu_comparison.cuh"
#include "pleat/rmsd/cuda/lddt_on_gpu.cuh"
#include "pleat/rmsd/tests/every_kernel.h"
#include "pleat/rmsd/tests/gpu_truth.h"
#include "pleat/rmsd/tests/random_ensemble.h"

namespace pleat::rmsd {
namespace {

using test::HostGpu;
using test::HostGpuState;

/// A measure that tells which pair it was asked for.
struct PairNumbers {
    HostGpu gpu;
    void run(Block rows, Block columns, float* values) {
        for (Index i = 0; i < rows.count; ++i)
            for (Index j = 0; j < columns.count; ++j)
                values[i * columns.count + j] = value(rows.first + i, columns.first + j);
    }
    double cost() const { return 1.0; }
    static float value(Index i, Index j) { return static_cast<float>(1000 * i + j % 37) / 64; }
};
using Numbers = cuda::GpuComparison<HostGpu, PairNumbers>;

/// Few values at a time, so that every loop runs more than once.
constexpr cuda::ComparisonSizes kSmall{.values = 300, .downloaded = 70, .near_pairs = 3};

std::vector<float> numbers_of(Index frames) {
    std::vector<float> values;
    for (Index i = 0; i < frames; ++i)
        for (Index j = i + 1; j < frames; ++j) values.push_back(PairNumbers::value(i, j));
    return values;
}

TEST(GpuComparisonOnHost, GivesEachPairItsPlace) {
    for (const cuda::ComparisonSizes sizes : {kSmall, cuda::ComparisonSizes{}}) {
        HostGpuState state;
        const HostGpu gpu(state);
        const Numbers comparison(PairNumbers{gpu}, 61, 1, gpu, sizes);
        std::vector<float> values(7 * 40);
        comparison.block({5, 7}, {11, 40}, values.data());
        for (Index i = 0; i < 7; ++i)
            for (Index j = 0; j < 40; ++j)
                ASSERT_EQ(values[i * 40 + j], PairNumbers::value(5 + i, 11 + j));
        compare(comparison, {5, 7}, {11, 20}, 3, values.data(), 40);
        for (Index i = 0; i < 7; ++i)
            for (Index j = 0; j < 20; ++j)
                ASSERT_EQ(values[i * 40 + j], PairNumbers::value(5 + i, 11 + j));
    }
}

TEST(GpuComparisonOnHost, IsAKernelOfAllPairs) {
    const Index frames = 61;
    HostGpuState state;
    const HostGpu gpu(state);
    const auto kernel = make_pair_kernel(
        std::make_unique<Numbers>(PairNumbers{gpu}, frames, 1, gpu, kSmall), frames, 2);
    EXPECT_EQ(kernel->counter(), nullptr);  // without bins
    EXPECT_EQ(test::all_pairs(*kernel, frames, 16), numbers_of(frames));
}

TEST(GpuComparisonOnHost, CountsWhatItWouldReturn) {
    const Index frames = 61;
    const std::vector<float> values = numbers_of(frames);
    for (const cuda::ComparisonSizes sizes : {kSmall, cuda::ComparisonSizes{}}) {
        // Bins that a CTA counts, bins beyond those, and more than there may be.
        for (const test::CountOptions options :
             {test::CountOptions{1.0, 500.0}, test::CountOptions{0.3, 0.0},
              test::CountOptions{1e-4, 100.0}}) {
            HostGpuState state;
            const HostGpu gpu(state);
            const auto kernel =
                make_pair_kernel(std::make_unique<Numbers>(PairNumbers{gpu}, frames, 1, gpu, sizes),
                                 frames, 2, {options.bin_width, options.cutoff, false});
            ASSERT_NE(kernel->counter(), nullptr);
            PairCounts found;
            for (Index row = 0; row < frames; row += 40)
                kernel->counter()->count({row, std::min<Index>(40, frames - row)}, found);
            test::expect_counts(found, test::counts_of(values, frames, options),
                                pairs_before(frames, frames));
        }
    }
}

TEST(GpuComparisonOnHost, ListsScoresAboveTheCutoff) {
    const Index frames = 61;
    HostGpuState state;
    const HostGpu gpu(state);
    const auto kernel =
        make_pair_kernel(std::make_unique<Numbers>(PairNumbers{gpu}, frames, 1, gpu, kSmall),
                         frames, 1, {1.0, 800.0, true});
    PairCounts found;
    kernel->counter()->count({0, frames}, found);
    std::size_t expected = 0;
    for (const float value : numbers_of(frames)) expected += value > 800.0f;
    ASSERT_GT(expected, 10u);
    EXPECT_EQ(found.near.size(), expected);
    for (const NearPair& pair : found.near)
        EXPECT_EQ(pair.value, PairNumbers::value(pair.i, pair.j));
}

using LddtOnHost = cuda::LddtOnGpu<HostGpu>;

std::shared_ptr<const Array<float, 3>> shared(const Array<float, 3>& frames) {
    return std::make_shared<const Array<float, 3>>(frames);
}

std::vector<float> reference_lddt(const LddtFrames& frames, Block rows, Block columns) {
    Context context;
    context.device = {Device::Kind::reference, 0};
    std::vector<float> values(static_cast<std::size_t>(rows.count * columns.count));
    make_lddt(frames, context)->block(rows, columns, values.data());
    return values;
}

void expect_lddt(const LddtFrames& frames, std::int64_t kept_bytes, const std::string& what) {
    HostGpuState state;
    {
        const HostGpu gpu(state);
        const Index height = frames.rows->extent(0), width = frames.columns->extent(0);
        const cuda::GpuComparison<HostGpu, LddtOnHost> comparison(
            LddtOnHost(frames, gpu, kept_bytes), width, 1, gpu);
        for (const auto& [rows, columns] : std::vector<std::pair<Block, Block>>{
                 {{0, height}, {0, width}}, {{height / 3, 1}, {width / 2, width - width / 2}}}) {
            std::vector<float> found(static_cast<std::size_t>(rows.count * columns.count));
            comparison.block(rows, columns, found.data());
            EXPECT_EQ(found, reference_lddt(frames, rows, columns)) << what;
        }
    }
    EXPECT_EQ(state.used_bytes, 0);
}

TEST(LddtOnGpuOnHost, CountsAreThoseOfTheDefinition) {
    for (const Index atoms : {2, 3, 33}) {
        for (const double spread : {0.0, 0.3, 20.0}) {
            const auto rows = shared(random_ensemble(9, atoms, spread, 3)),
                       columns = shared(random_ensemble(66, atoms, spread, 4));
            std::vector<std::int32_t> residues;
            for (Index k = 0; k < atoms; ++k)
                residues.push_back(static_cast<std::int32_t>(7 - k / 2));
            const std::string what =
                std::to_string(atoms) + " atoms, spread " + std::to_string(spread);
            for (const std::int64_t kept : {std::int64_t{0}, std::int64_t{1} << 30}) {
                expect_lddt({rows, columns, {}}, kept, what);
                expect_lddt({rows, columns, residues}, kept, what + ", residues");
                expect_lddt({rows, columns, residues, true}, kept, what + ", reference");
                expect_lddt({columns, columns, {}}, kept, what + ", one set");
            }
        }
    }
}

// More listed pairs than a launch takes, with counts near what 16 bits hold.
TEST(LddtOnGpuOnHost, AddsTheCountsOfLaunches) {
    Array<float, 3> xyz(Index{3}, Index{190}, Index{3});
    std::mt19937_64 generator(8);
    for (Index i = 0; i < 3; ++i)
        for (Index k = 0; k < 190; ++k)
            for (Index axis = 0; axis < 3; ++axis)
                xyz(i, k, axis) = static_cast<float>(generator() % 8000) / 1000;
    ASSERT_GT(190 * 189 / 2, cuda::kLddtPairs);
    for (const std::int64_t kept : {std::int64_t{0}, std::int64_t{1} << 30})
        expect_lddt({shared(xyz), shared(xyz), {}}, kept, "many pairs");
}

TEST(LddtOnGpuOnHost, DistancesAtAThresholdOrTheRadiusFallOnOneSide) {
    // As of the CPU (lddt_test.cpp): differences equal to a threshold, or a float32 step beside it.
    std::mt19937_64 generator(8);
    for (const float step : {0.25F, 0.5F, 1.0F}) {
        Array<float, 3> xyz(Index{40}, Index{20}, Index{3});
        for (Index i = 0; i < 40; ++i)
            for (Index k = 0; k < 20; ++k)
                xyz(i, k, i % 3) = step * static_cast<float>(generator() % 100);
        expect_lddt({shared(xyz), shared(xyz), {}}, 0, "steps of " + std::to_string(step));
    }
    Array<float, 3> near(Index{32}, Index{3}, Index{3});
    for (Index i = 1; i < 32; ++i) {
        const auto threshold = static_cast<float>(std::ldexp(0.5, static_cast<int>(i % 4)));
        near(i, 1, 0) = std::nextafter(threshold, i % 8 < 4 ? 0.0F : 9.0F);
        near(i, 2, 1) = std::nextafter(15.0F, i % 16 < 8 ? 0.0F : 99.0F);
    }
    expect_lddt({shared(near), shared(near), {}}, 0, "next to thresholds");
}

TEST(LddtOnGpuOnHost, DegenerateFramesGiveTheReferencesNumbers) {
    // Frame 0: all atoms at one place; 1: all apart; 2: a chain.
    Array<float, 3> xyz(Index{3}, Index{5}, Index{3});
    for (Index k = 0; k < 5; ++k) {
        xyz(1, k, 0) = 20.0F * static_cast<float>(k);
        xyz(2, k, 0) = 3.8F * static_cast<float>(k);
    }
    expect_lddt({shared(xyz), shared(xyz), {}}, 0, "degenerate");
    Array<float, 3> apart(Index{2}, Index{5}, Index{3});
    for (Index k = 0; k < 5; ++k) apart(0, k, 0) = apart(1, k, 1) = 20.0F * static_cast<float>(k);
    expect_lddt({shared(apart), shared(apart), {}}, 1 << 20, "no near atoms");
}

}  // namespace
}  // namespace pleat::rmsd
