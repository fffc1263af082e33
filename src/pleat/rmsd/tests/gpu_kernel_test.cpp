// The GPU's tiles and counts, run thread by thread on the host, against the reference.
#include "gpu_on_host.h"  // before all that it imitates

#include <gtest/gtest.h>

#include <cmath>

#include "pleat/rmsd/tests/every_kernel.h"
#include "pleat/rmsd/tests/gpu_truth.h"
#include "pleat/rmsd/tests/oracle_frames.h"

namespace pleat::rmsd {
namespace {

using test::counts_of;
using test::expect_counts;
using test::expect_near;
using test::HostGpu;
using test::HostGpuState;
using test::KernelOnHost;

struct Shape {
    Index frames, atoms;
    double spread;
};
// No multiple of a panel, a chunk or a tile; one atom, two, three; more than a segment of atoms;
// structures that have nothing in common.
const Shape kShapes[] = {{2, 1, 1.0},   {3, 2, 1.0},   {31, 3, 0.5},  {33, 17, 2.0},
                         {65, 16, 0.2}, {97, 20, 1.0}, {66, 5, 20.0}, {34, 273, 1.5}};

TEST(GpuOnHost, SuperposesLikeTheReference) {
    for (const Shape& shape : kShapes) {
        SCOPED_TRACE(std::to_string(shape.frames) + " x " + std::to_string(shape.atoms));
        const Frames frames =
            centre(random_ensemble(shape.frames, shape.atoms, shape.spread, 3), {}, 1);
        HostGpuState state;
        {
            KernelOnHost kernel({.frames = &frames}, 1, HostGpu(state));
            expect_near(test::all_pairs(kernel, shape.frames), test::reference_pairs(frames));
        }
        EXPECT_EQ(state.used_bytes, 0);
    }
}

/// Frames near one of two structures, which differ mostly in their first 16 atoms.
Array<float, 3> two_states_with_a_loose_end(Index frames, Index atoms, double spread) {
    Array<float, 3> xyz = random_ensemble(frames, atoms, spread, 11);
    const Array<float, 3> apart = random_ensemble(1, atoms, 1.0, 12);
    for (Index n = 0; n < frames; n += 2)
        for (Index k = 0; k < atoms; ++k)
            for (int axis = 0; axis < 3; ++axis)
                xyz(n, k, axis) += (k < 16 ? 10.0f : 1.0f) * std::sin(apart(0, k, axis));
    return xyz;
}

/// Keeps what tensor cores and the solver found of every pair, and calls no pair doubtful.
template <TilePrecision kOf>
struct SolvedSink {
    struct Local {};
    static constexpr TilePrecision kPrecision = kOf;

    Solved* solved;  ///< [frame, frame]
    Index frames;

    void open(cuda::Words*) const {}
    bool put(Local&, cuda::Words*, const cuda::TilePosition& position, int row, int column,
             const Solved& of) const {
        solved[(position.row + row) * frames + position.column + column] = of;
        return true;
    }
    void put_exact(Local&, cuda::Words*, const cuda::TilePosition&, int, int, float) const {}
    void close(const Local&, cuda::Words*, const cuda::TilePosition&) const {}
    void put_recomputed(Index, Index, float) const {}
};

/// The largest error of a pair in units of its estimate.
template <TilePrecision kPrecision>
double worst_error(const Frames& frames, const std::vector<float>& values) {
    const Index count = frames.frame_count();
    HostGpuState state;
    cuda::TiledFrames<HostGpu> work(*memory_source(borrowed(frames)), format_of(kPrecision), 1,
                                    HostGpu(state));
    std::vector<Solved> solved(static_cast<std::size_t>(count * count));
    work.run({0, count}, SolvedSink<kPrecision>{solved.data(), count});
    double worst = 0.0;
    for (Index i = 0, pair = 0; i < count; ++i)
        for (Index j = i + 1; j < count; ++j, ++pair) {
            const Solved& of = solved[i * count + j];
            const double truth = static_cast<double>(values[pair]) * values[pair];
            // The truth is rounded to float32.
            worst = std::max(worst, (std::fabs(of.square - truth) - 1.2e-7 * truth) / of.error);
        }
    return worst;
}

TEST(GpuOnHost, ErrorsKeepToTheirEstimatesWithALooseEnd) {
    for (const Index atoms : {140, 250}) {
        for (const double spread : {0.02, 0.1, 0.5}) {
            SCOPED_TRACE(std::to_string(atoms) + " atoms, spread " + std::to_string(spread));
            const Frames frames = centre(two_states_with_a_loose_end(60, atoms, spread), {}, 1);
            const std::vector<float> values = test::reference_pairs(frames);
            EXPECT_LE(worst_error<TilePrecision::full>(frames, values), 0.6);
            EXPECT_LE(worst_error<TilePrecision::counted>(frames, values), 0.6);
            EXPECT_LE(worst_error<TilePrecision::coarse>(frames, values), 0.6);
        }
    }
}

TEST(GpuOnHost, FramesThatAreReadInBlocksHaveTheBitsOfFramesInMemory) {
    const Array<float, 3> xyz = random_ensemble(99, 13, 1.0, 6);
    const Frames frames = centre(xyz, {}, 1);
    for (const Index block : {1, 40, 70, 99, 1000}) {
        HostGpuState state;
        KernelOnHost all({.frames = &frames}, 1, HostGpu(state));
        KernelOnHost blocks({.source = block_source(FrameStore(xyz.view()), {}, 1, block)}, 1,
                            HostGpu(state));
        EXPECT_EQ(test::all_pairs(blocks, 99), test::all_pairs(all, 99)) << block;
        PairCounts counted, expected;
        blocks.count({0, 99}, {}, counted);
        all.count({0, 99}, {}, expected);
        EXPECT_EQ(counted.statistics.mean(), expected.statistics.mean()) << block;
        EXPECT_EQ(counted.statistics.max(), expected.statistics.max()) << block;
    }
}

TEST(GpuOnHost, EveryDegenerateClassIsRight) {
    for (const test::OracleFrames& oracle : test::degenerate_ensembles()) {
        HostGpuState state;
        KernelOnHost kernel({.frames = &oracle.frames}, 1, HostGpu(state));
        test::expect_oracle(oracle, test::all_pairs(kernel, oracle.frames.frame_count()), "floats");
    }
}

TEST(GpuOnHost, GivesTheSameBitsForAnyBands) {
    const Index count = 99;
    const Frames frames = centre(random_ensemble(count, 13, 1.0, 4), {}, 1);
    HostGpuState state;
    KernelOnHost kernel({.frames = &frames}, 1, HostGpu(state));
    const auto whole = test::all_pairs(kernel, count, count);
    for (const Index rows : {7, 33, 64})
        EXPECT_EQ(test::all_pairs(kernel, count, rows), whole) << rows;
}

TEST(GpuOnHost, CountsAsFloat64Decides) {
    const Index count = 70;
    const Frames frames = centre(random_ensemble(count, 15, 0.6, 5), {}, 1);
    const std::vector<float> values = test::reference_pairs(frames);
    // Many narrow bins leave no value far from an edge; wide ones go beyond what CTAs count.
    for (const Bins options :
         {Bins{0.05, 1.4}, Bins{1e-5, 1.4}, Bins{1e-3, 0.0}, Bins{1e6, 100.0}}) {
        HostGpuState state;
        KernelOnHost kernel({.frames = &frames}, 1, HostGpu(state));
        PairCounts found;
        for (Index row = 0; row < count; row += 40)
            kernel.count({row, std::min<Index>(40, count - row)}, options, found);
        expect_counts(found, counts_of(values, count, options), pairs_before(count, count));
    }
}

// Room for one pair at first: the list grows; where memory for all of it is short, bands are
// halved.
TEST(GpuOnHost, CountsMorePairsThanItHadMemoryFor) {
    const Index count = 70;
    const Frames frames = centre(random_ensemble(count, 9, 0.6, 5), {}, 1);
    const Bins options{0.05, 1.4};
    const PairCounts expected = counts_of(test::reference_pairs(frames), count, options);
    const auto all = static_cast<std::int64_t>(expected.near.size() * sizeof(NearPair));
    ASSERT_GT(expected.near.size(), 1000U);
    const Problem problem{.frames = &frames};
    HostGpuState grown;
    std::int64_t needed = 0;
    {
        KernelOnHost kernel(problem, 1, HostGpu(grown), 1);
        PairCounts found;
        kernel.count({count - 1, 1}, options, found);  // no pair
        needed = grown.used_bytes;
        kernel.count({0, count}, options, found);
        expect_counts(found, expected, pairs_before(count, count));
        EXPECT_EQ(grown.used_bytes, needed - static_cast<Index>(sizeof(NearPair)) + all);
    }
    HostGpuState split;
    split.total_bytes = needed + cuda::kReserve + all / 5;
    KernelOnHost kernel(problem, 1, HostGpu(split), 1);
    PairCounts found;
    kernel.count({0, count}, options, found);
    expect_counts(found, expected, pairs_before(count, count));
    EXPECT_LE(split.max_used_bytes, split.total_bytes - cuda::kReserve);
    EXPECT_GT(split.max_used_bytes, needed);
}

// A cutoff that is a pair's very value: below it, or not, is for float64 to say.
TEST(GpuOnHost, DecidesPairsAtTheCutoffInFloat64) {
    const Index count = 40;
    const Frames frames = centre(random_ensemble(count, 15, 0.5, 6), {}, 1);
    const std::vector<float> values = test::reference_pairs(frames);
    for (std::size_t pair = 0; pair < values.size(); pair += 197) {
        for (const double cutoff :
             {double{values[pair]}, double{std::nextafter(values[pair], 9.0f)}}) {
            const Bins options{0.05, cutoff};
            HostGpuState state;
            KernelOnHost kernel({.frames = &frames}, 1, HostGpu(state));
            PairCounts found;
            kernel.count({0, count}, options, found);
            ASSERT_EQ(found.near.size(), counts_of(values, count, options).near.size());
        }
    }
}

TEST(GpuOnHost, CountsTheNeighboursOfEachFrame) {
    const Index count = 170;
    const Frames frames = centre(random_ensemble(count, 12, 0.6, 5), {}, 1);
    const std::vector<float> values = test::reference_pairs(frames);
    // The last is a pair's very value.
    for (const float cutoff : {0.01f, 1.4f, 100.0f, values[values.size() / 2]}) {
        std::vector<std::int32_t> expected(static_cast<std::size_t>(count)), sums = expected;
        std::size_t pair = 0;
        for (Index i = 0; i < count; ++i)
            for (Index j = i + 1; j < count; ++j, ++pair)
                if (values[pair] < cutoff) ++expected[i], ++expected[j];
        HostGpuState state;
        KernelOnHost kernel({.frames = &frames}, 1, HostGpu(state));
        PairCounts found;
        for (Index row = 0; row < count; row += 70) {
            kernel.count({row, std::min<Index>(70, count - row)},
                         {.width = 0.05, .cutoff = cutoff, .counts_neighbours = true}, found);
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += found.neighbours[i];
        }
        EXPECT_EQ(sums, expected) << cutoff;
        expect_counts(found, counts_of(values, count, {0.05, 0.0}), pairs_before(count, count));
    }
}

TEST(GpuOnHost, SumsTheDistancesAmongSomeFrames) {
    const Index count = 170;
    const Frames frames = centre(random_ensemble(count, 12, 0.6, 5), {}, 1);
    const std::vector<float> values = test::reference_pairs(frames);
    HostGpuState state;
    KernelOnHost kernel({.frames = &frames}, 1, HostGpu(state));
    for (const Index step : {1, 3, 84}) {
        std::vector<Index> items;
        for (Index i = step / 2; i < count; i += step) items.push_back(i);
        std::vector<double> sums(items.size()), expected(items.size());
        std::vector<float> maxima(items.size()), bounds(items.size());
        ASSERT_TRUE(kernel.sum_among(items, {}, sums, maxima));
        for (std::size_t a = 0; a < items.size(); ++a) {
            for (std::size_t b = 0; b < items.size(); ++b) {
                if (a == b) continue;
                const Index i = std::min(items[a], items[b]), j = std::max(items[a], items[b]);
                const float value = values[pairs_before(i, count) + j - i - 1];
                expected[a] += value;
                bounds[a] = std::max(bounds[a], value);
            }
            EXPECT_NEAR(sums[a], expected[a], 1e-5 * static_cast<double>(items.size()));
            EXPECT_NEAR(maxima[a], bounds[a], 1e-5);
        }
    }
    // Without memory for a copy of these frames, they are left to the caller.
    const std::vector<Index> two = {3, 4};
    std::vector<double> sums(2);
    std::vector<float> maxima(2);
    HostGpuState small;
    KernelOnHost short_of_memory({.frames = &frames}, 1, HostGpu(small));
    short_of_memory.prepare();
    small.total_bytes = small.used_bytes + cuda::kReserve;
    EXPECT_FALSE(short_of_memory.sum_among(two, {}, sums, maxima));
}

TEST(GpuOnHost, RefusesFramesWithoutMemory) {
    const Frames frames = centre(random_ensemble(40, 30, 0.6, 5), {}, 1);
    HostGpuState state;
    state.total_bytes = cuda::kReserve + 1000;
    KernelOnHost kernel({.frames = &frames}, 1, HostGpu(state));
    float value = 0;
    try {
        kernel.band({38, 1}, &value);
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_NE(std::string(error.what()).find("40 frames of 30 atoms"), std::string::npos)
            << error.what();
    }
}

// A list of doubtful pairs that is full: further pairs are recomputed by the threads that find
// them.
TEST(GpuOnHost, RecomputesMoreDoubtfulPairsThanTheListHolds) {
    const Index count = 70, pairs = pairs_before(count, count);
    const Frames frames =
        centre(random_ensemble(count, 2, 1.0, 7), {}, 1);  // rods: all are doubtful
    const std::vector<float> values = test::reference_pairs(frames);
    for (const Index capacity : {1, 40, 5000}) {
        HostGpuState state;
        cuda::TiledFrames<HostGpu> work(*memory_source(borrowed(frames)), TileFormat::split, 1,
                                        HostGpu(state), capacity);
        HostGpu gpu(state);
        HostGpu::Array<float> found(pairs);
        work.run({0, count}, cuda::ValueSink{found.data(), count, 0, {8e-6f, 8e-6f, 0, 0, 0}});
        EXPECT_EQ(work.doubtful(), pairs);
        expect_near({found.data(), found.data() + pairs}, values);
    }
}

}  // namespace
}  // namespace pleat::rmsd
