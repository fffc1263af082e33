// Frames on disk: the bits of frames in memory, for pairs, statistics, lists and matrices.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/pairs/frame_pairs.h"
#include "pleat/rmsd/tests/random_ensemble.h"

namespace pleat::rmsd {
namespace {

Context threads(int count) {
    Context context;
    context.threads = count;
    return context;
}

/// An ensemble in memory and the same in a file.
struct Both {
    explicit Both(Array<float, 3> coordinates) : xyz(std::move(coordinates)) {
        std::ofstream(folder / "frames", std::ios::binary)
            .write(reinterpret_cast<const char*>(xyz.data()),
                   static_cast<std::streamsize>(xyz.bytes()));
        on_disk = FrameStore(folder / "frames", xyz.extent(0), xyz.extent(1));
    }
    pleat::test::TemporaryFolder folder;
    Array<float, 3> xyz;
    FrameStore on_disk;
};

/// Frames that are equal, in a line, in a plane, or at one point.
Array<float, 3> degenerate_ensemble(Index frames, Index atoms) {
    Array<float, 3> xyz = random_ensemble(frames, atoms, 1.0, 5);
    for (Index i = 0; i < frames; ++i)
        for (Index k = 0; k < atoms; ++k) {
            if (i % 5 == 1) xyz(i, k, 0) = xyz(i, k, 1) = 0.0f;
            if (i % 5 == 2) xyz(i, k, 2) = 3.0f;
            for (Index axis = 0; axis < 3; ++axis) {
                if (i % 5 == 3) xyz(i, k, axis) = 7.0f;
                if (i % 5 == 4) xyz(i, k, axis) = xyz(0, k, axis);
            }
        }
    return xyz;
}

std::vector<float> bands(Kernel& kernel, Index frames, Index height) {
    std::vector<float> all;
    for (const Tile& tile : cut_into_bands(frames, height)) {
        std::vector<float> values(static_cast<std::size_t>(tile.items), NAN);
        kernel.band(tile.side[0], values.data());
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

TEST(Blocks, OfAnySizeGiveTheBitsOfFramesInMemory) {
    for (const Index atoms : {1, 2, 9, 40})
        for (const Index frames : {1, 2, 3, 50, 170}) {
            const Both both(frames == 50 ? degenerate_ensemble(frames, atoms)
                                         : random_ensemble(frames, atoms, 1.0, 3));
            const std::vector<double> weights(static_cast<std::size_t>(atoms == 9 ? atoms : 0),
                                              0.7);
            const Frames whole = centre(both.xyz, weights, 1);
            for (const FitPrecision precision : {FitPrecision::mixed, FitPrecision::float64})
                for (const auto& device :
                     {Device{Device::Kind::cpu, 0}, Device{Device::Kind::reference, 0}}) {
                    Context context = threads(2);
                    context.device = device;
                    const Problem problem{.precision = precision, .cutoff = 1.5};
                    const auto kernel = kernel_for(problem.of(whole), context);
                    const std::vector<float> expected = bands(*kernel, frames, 48);
                    for (const Index block : {17, 64, 1000}) {
                        SCOPED_TRACE(testing::Message() << atoms << ' ' << frames << ' ' << block);
                        Problem on_disk = problem;
                        on_disk.source = block_source(both.on_disk, weights, 2, block);
                        const auto blocks = make_kernel(on_disk, context);
                        ASSERT_EQ(bands(*blocks, frames, 48), expected);
                    }
                }
        }
}

TEST(Blocks, PairsAmongFramesHaveTheSameBits) {
    const Both both(random_ensemble(400, 9, 1.0, 8));
    const auto memory = superposed_pairs(both.xyz, {}, {}, false, threads(2));
    const FramePairs disk(block_source(both.on_disk, {}, 2, 64), FitPrecision::mixed, false, {},
                          threads(2));
    for (const Index step : {1, 2, 5, 7, 100}) {  // more and fewer frames than a block
        std::vector<Index> items;
        for (Index i = 0; i < 400; i += step) items.push_back(i);
        const auto among = [&](const PairSource& source) {
            std::vector<float> all;
            const auto count = static_cast<Index>(items.size());
            source.among(items, [&](Block rows, const float* values) {
                all.insert(all.end(), values,
                           values + pairs_before(rows.first + rows.count, count) -
                               pairs_before(rows.first, count));
            });
            return all;
        };
        EXPECT_EQ(among(disk), among(*memory)) << step;
    }
    std::vector<float> found(400 * 6), expected(400 * 6);
    for (const std::size_t count : {1U, 3U, 6U}) {  // few rows take another path
        const std::vector<Index> items = {399, 0, 17, 18, 200, 3};
        disk.rows(std::span(items).first(count), found.data());
        memory->rows(std::span(items).first(count), expected.data());
        for (std::size_t n = 0; n < 400 * count; ++n)
            ASSERT_NEAR(found[n], expected[n], 2 * error_of(FitPrecision::mixed));
        for (std::size_t n = 0; n < count; ++n) EXPECT_EQ(found[400 * n + items[n]], 0.0f);
    }
    for (const double cutoff : {1.0, 1.7, 2.2}) {
        EXPECT_GT(disk.error(cutoff), 0.0);
        EXPECT_GT(memory->error(cutoff), 0.0);
        parallel_for(2, 11, [&](Index n, int) {  // the thread sanitizer watches
            const Index i = 37 * n;
            for (Index j = i + 1; j < 400; j += 29)
                EXPECT_EQ(disk.is_below(i, j, cutoff), memory->is_below(i, j, cutoff));
        });
    }
    EXPECT_TRUE(disk.is_metric());
}

void expect_same(const Result& found, const Result& expected) {
    EXPECT_EQ(found.statistics.histogram(), expected.statistics.histogram());
    EXPECT_EQ(found.statistics.sum(), expected.statistics.sum());
    EXPECT_EQ(found.statistics.min(), expected.statistics.min());
    EXPECT_EQ(found.statistics.max(), expected.statistics.max());
    EXPECT_EQ(found.neighbours.starts, expected.neighbours.starts);
    EXPECT_EQ(found.neighbours.indices, expected.neighbours.indices);
    EXPECT_EQ(found.neighbours.values, expected.neighbours.values);
    ASSERT_EQ(found.nearest.indices.size(), expected.nearest.indices.size());
    EXPECT_TRUE(std::equal(found.nearest.indices.begin(), found.nearest.indices.end(),
                           expected.nearest.indices.begin()));
}

TEST(Blocks, RunsHaveTheSameResultsAndHash) {
    for (const Index frames : {1, 2, 1100}) {
        const Both both(degenerate_ensemble(frames, 7));
        Parameters parameters;
        parameters.cutoff = 1.2;
        parameters.nearest = 3;
        for (const MatrixLayout layout : {MatrixLayout::none, MatrixLayout::condensed}) {
            parameters.matrix = layout;
            const Result expected =
                run(both.xyz, {}, parameters, threads(1), both.folder / "memory.npy");
            const Result found =
                run(both.on_disk, {}, parameters, threads(2), both.folder / "disk.npy");
            expect_same(found, expected);
            if (layout == MatrixLayout::none) continue;
            EXPECT_EQ(pleat::test::slurp(both.folder / "disk.npy"),
                      pleat::test::slurp(both.folder / "memory.npy"));
        }
    }
}

TEST(Blocks, FramesInMemoryAreReadInBlocksWhereTheirCopiesDoNotFit) {
    const Array<float, 3> xyz = random_ensemble(3000, 300, 1.0, 2);
    Parameters parameters;
    parameters.matrix = MatrixLayout::none;
    Context context = threads(2);
    // The frames are cut short so that their pairs take no time.
    const FrameStore some(View<const float, 3>(xyz.data(), Index{150}, Index{6000}, Index{3}));
    const Result expected = run(some, {}, parameters, context, {});
    limit_memory(1);
    EXPECT_THROW(run(some, {}, parameters, context, {}), DeviceError);
    limit_memory(peak_memory() + (std::int64_t{70} << 20));
    EXPECT_LT(available_memory(), std::int64_t{1} << 30);
    const Result found = run(some, {}, parameters, context, {});
    limit_memory(INT64_MAX);
    expect_same(found, expected);
}

TEST(Blocks, OnlyTheRmsdOfAllAtomsReadsFromDisk) {
    const Both both(random_ensemble(10, 7, 1.0, 1));
    Parameters parameters;
    parameters.matrix = MatrixLayout::none;
    parameters.metric = Metric::drmsd;
    EXPECT_THROW(run(both.on_disk, {}, parameters, threads(1), {}), UsageError);
    EXPECT_THROW(run(both.on_disk, {{0, 1, 2}, {}, {}}, {}, threads(1), {}), UsageError);
}

TEST(Blocks, AFileOfAnotherLengthOrThatIsCutIsRefused) {
    const Both both(random_ensemble(10, 7, 1.0, 1));
    EXPECT_THROW(FrameStore(both.folder / "frames", 10, 8), InputError);
    EXPECT_THROW(FrameStore(both.folder / "nothing", 10, 7), InputError);
    std::filesystem::resize_file(both.folder / "frames", 500);
    Parameters parameters;
    parameters.matrix = MatrixLayout::none;
    EXPECT_THROW(run(both.on_disk, {}, parameters, threads(1), {}), InputError);
}

}  // namespace
}  // namespace pleat::rmsd
