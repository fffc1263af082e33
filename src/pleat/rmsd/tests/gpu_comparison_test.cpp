// Measures on a GPU, run thread by thread on the host, against their definitions.
#include "gpu_on_host.h"  // before all that it imitates

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "pleat/core/error.h"
#include "pleat/rmsd/cuda/drmsd_on_gpu.cuh"
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
    EXPECT_EQ(test::all_pairs(*kernel, frames, 16), numbers_of(frames));
}

TEST(GpuComparisonOnHost, CountsWhatItWouldReturn) {
    const Index frames = 61;
    const std::vector<float> values = numbers_of(frames);
    for (const cuda::ComparisonSizes sizes : {kSmall, cuda::ComparisonSizes{}}) {
        // Bins that a CTA counts, bins beyond those, and more than there may be.
        for (const Bins options : {Bins{1.0, 500.0}, Bins{0.3, 0.0}, Bins{1e-4, 100.0}}) {
            HostGpuState state;
            const HostGpu gpu(state);
            const auto kernel = make_pair_kernel(
                std::make_unique<Numbers>(PairNumbers{gpu}, frames, 1, gpu, sizes), frames, 2);
            ASSERT_NE(kernel->counter(), nullptr);
            PairCounts found;
            for (Index row = 0; row < frames; row += 40)
                kernel->counter()->count({row, std::min<Index>(40, frames - row)}, options, found);
            test::expect_counts(found, test::counts_of(values, frames, options),
                                pairs_before(frames, frames));
        }
    }
}

TEST(GpuComparisonOnHost, ListsScoresAboveTheCutoff) {
    const Index frames = 61;
    HostGpuState state;
    const HostGpu gpu(state);
    const auto kernel = make_pair_kernel(
        std::make_unique<Numbers>(PairNumbers{gpu}, frames, 1, gpu, kSmall), frames, 1);
    PairCounts found;
    kernel->counter()->count({0, frames}, {1.0, 800.0, true}, found);
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

using DrmsdOnHost = cuda::DrmsdOnGpu<HostGpu>;

struct DrmsdCase {
    std::shared_ptr<const Array<float, 3>> rows, columns;
    std::vector<double> weights = {};
    FitPrecision precision = FitPrecision::mixed;
};

std::vector<float> drmsd_on_host(const DrmsdCase& of, std::int64_t kept_bytes, Block rows,
                                 Block columns) {
    HostGpuState state;
    // As GPUs with less shared memory.
    if (kept_bytes == 0) state.shared_bytes = 99 << 10;
    std::vector<float> found(static_cast<std::size_t>(rows.count * columns.count));
    {
        const HostGpu gpu(state);
        // Blocks that are not kept take several launches.
        const cuda::GpuComparison<HostGpu, DrmsdOnHost> comparison(
            DrmsdOnHost(of.rows->view(), of.columns->view(), of.weights, of.precision, gpu,
                        kept_bytes, 1 << 17),
            of.columns->extent(0), 1, gpu);
        comparison.block(rows, columns, found.data());
    }
    EXPECT_EQ(state.used_bytes, 0);
    return found;
}

std::vector<float> reference_drmsd(const DrmsdCase& of, Block rows, Block columns) {
    Context context;
    context.device = {Device::Kind::reference, 0};
    std::vector<float> values(static_cast<std::size_t>(rows.count * columns.count));
    make_drmsd(owned(centre(*of.rows, {}, 1)), owned(centre(*of.columns, {}, 1)), of.weights,
               of.precision, context)
        ->block(rows, columns, values.data());
    return values;
}

void expect_drmsd(const DrmsdCase& of, double tolerance, const std::string& what) {
    const Block rows{0, of.rows->extent(0)}, columns{0, of.columns->extent(0)};
    const std::vector<float> expected = reference_drmsd(of, rows, columns),
                             found = drmsd_on_host(of, std::int64_t{1} << 30, rows, columns);
    for (std::size_t n = 0; n < found.size(); ++n)
        ASSERT_NEAR(found[n], expected[n], tolerance) << what << ", value " << n;
    EXPECT_EQ(drmsd_on_host(of, 0, rows, columns), found) << what << ", not kept";
    // The same bits in any block.
    const Block some{rows.count / 3, rows.count - rows.count / 3},
        others{columns.count / 2, columns.count - columns.count / 2};
    const std::vector<float> part = drmsd_on_host(of, 0, some, others);
    for (Index i = 0; i < some.count; ++i)
        for (Index j = 0; j < others.count; ++j)
            ASSERT_EQ(part[i * others.count + j],
                      found[(some.first + i) * columns.count + others.first + j])
                << what;
}

auto frames_of(Index frames, Index atoms, double spread, int seed) {
    return shared(random_ensemble(frames, atoms, spread, seed));
}

TEST(DrmsdOnGpuOnHost, IsThatOfTheDefinition) {
    for (const Index atoms : {1, 2, 9, 24}) {
        for (const double spread : {0.0, 0.05, 1.0, 20.0}) {
            const std::string what =
                std::to_string(atoms) + " atoms, spread " + std::to_string(spread);
            const auto rows = frames_of(19, atoms, spread, 3),
                       columns = frames_of(spread == 1.0 ? 131 : 35, atoms, spread, 4);
            expect_drmsd({rows, columns}, 1e-5, what);
            if (spread == 1.0) expect_drmsd({columns, columns}, 1e-5, what + ", one set");
        }
    }
}

TEST(DrmsdOnGpuOnHost, KnowsWeightsAndFloat64) {
    const auto rows = frames_of(20, 13, 0.5, 3), columns = frames_of(33, 13, 0.5, 4);
    std::vector<double> weights;
    for (int k = 0; k < 13; ++k) weights.push_back(k % 4 == 0 ? 0.0 : 1.0 + 30 * (k % 3));
    expect_drmsd({rows, columns, weights}, 1e-5, "weights");
    expect_drmsd({rows, columns, weights, FitPrecision::float64}, 1e-6, "weights, float64");
    std::vector<double> one(13);
    one[5] = 2.0;  // no pair of atoms has a weight
    expect_drmsd({rows, columns, one}, 0, "one weight");
}

TEST(DrmsdOnGpuOnHost, NearAndFarFramesAreRight) {
    // Frames that are equal, or nearly, among others that are far away: what cancels is recomputed.
    Array<float, 3> xyz = random_ensemble(40, 12, 3.0, 6);
    for (Index i = 1; i < 40; i += 2)
        for (Index k = 0; k < 12; ++k)
            for (Index axis = 0; axis < 3; ++axis)
                xyz(i, k, axis) = xyz(i - 1, k, axis) + (i % 4 == 1 && k == 3 ? 1e-3F : 0.0F);
    const auto frames = shared(xyz);
    expect_drmsd({frames, frames}, 1e-5, "near frames");
    const std::vector<float> values = drmsd_on_host({frames, frames}, 0, {0, 40}, {0, 40});
    for (Index i = 0; i < 40; ++i) EXPECT_EQ(values[i * 40 + i], 0.0f);
    // Groups of near frames: tiles with many pairs that are left, which are computed as a whole,
    // and blocks in which the same pairs are among few.
    for (Index i = 0; i < 40; ++i)
        for (Index k = 0; k < 12; ++k)
            for (Index axis = 0; axis < 3; ++axis)
                xyz(i, k, axis) =
                    xyz(i < 30 ? 0 : 31, k, axis) +
                    (i % 5 == 0 ? 0.0F : 1e-3F * static_cast<float>((i * k + axis) % 7));
    const auto groups = shared(xyz);
    expect_drmsd({groups, groups}, 1e-5, "groups");
    const std::vector<float> all = drmsd_on_host({groups, groups}, 0, {0, 40}, {0, 40});
    for (Index i = 0; i < 40; i += 7)
        EXPECT_EQ(drmsd_on_host({groups, groups}, 0, {i, 1}, {0, 40}),
                  std::vector<float>(all.begin() + i * 40, all.begin() + (i + 1) * 40));
    // Far beyond a protein's size.
    for (float& value : xyz) value *= 1000;
    const auto large = shared(xyz);
    expect_drmsd({large, large}, 1e-3, "scaled by 1000");
}

TEST(DrmsdOnGpuOnHost, RefusesCoordinatesThatAreNotFinite) {
    for (const float bad : {NAN, INFINITY, -2e15F}) {
        Array<float, 3> xyz = random_ensemble(40, 35, 1.0, 6);
        xyz(33, 34, 1) = bad;
        try {
            drmsd_on_host({shared(xyz), shared(xyz)}, 0, {0, 1}, {0, 1});
            FAIL();
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find("33"), std::string::npos) << error.what();
        }
    }
}

}  // namespace
}  // namespace pleat::rmsd
