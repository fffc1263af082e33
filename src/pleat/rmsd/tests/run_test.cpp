// Runs of rmsd: matrices, histogram, neighbours, best frames, and going on after a stop.
#include "pleat/rmsd/rmsd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/pairs/nearest_lists.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/pairs/pairs_run.h"
#include "pleat/rmsd/tests/every_kernel.h"
#include "pleat/rmsd/tests/random_ensemble.h"

namespace pleat::rmsd {
namespace {

constexpr Index kFrames = 1500, kAtoms = 6;  // two bands of rows

const Array<float, 3>& ensemble() {
    static const Array<float, 3> xyz = random_ensemble(kFrames, kAtoms, 1.0, 21);
    return xyz;
}

const std::vector<float>& truth() {
    static const std::vector<float> pairs =
        test::cpu_pairs(centre(ensemble(), {}, 1), FitPrecision::mixed);
    return pairs;
}

float truth_of(Index i, Index j) {
    return i == j ? 0.0f : truth()[pairs_before(std::min(i, j), kFrames) + std::abs(i - j) - 1];
}

Context one_thread() {
    Context context;
    context.threads = 1;
    return context;
}

TEST(Run, WritesTheCondensedAndTheFullMatrix) {
    const pleat::test::TemporaryFolder folder;
    Parameters parameters;
    run(ensemble(), {}, parameters, one_thread(), folder / "condensed.npy");
    const NpyArray condensed = read_npy(folder / "condensed.npy");
    EXPECT_EQ(condensed.dtype, "<f4");
    EXPECT_EQ(condensed.shape, std::vector<Index>({kFrames * (kFrames - 1) / 2}));
    EXPECT_EQ(condensed.as<float>("rmsd"), truth());
    parameters.matrix = MatrixLayout::full;
    run(ensemble(), {}, parameters, one_thread(), folder / "full.npy");
    const NpyArray full = read_npy(folder / "full.npy");
    EXPECT_EQ(full.shape, std::vector<Index>({kFrames, kFrames}));
    const std::vector<float> values = full.as<float>("rmsd");
    for (Index i = 0; i < kFrames; ++i)
        for (Index j = 0; j < kFrames; ++j) ASSERT_EQ(values[i * kFrames + j], truth_of(i, j));
    EXPECT_EQ(folder.names().size(), 2U) << "tiles stayed";
}

TEST(Run, SumsUpTheSameWithAndWithoutAMatrix) {
    const pleat::test::TemporaryFolder folder;
    Parameters parameters;
    parameters.cutoff = 1.9;
    parameters.nearest = 3;
    const Result with = run(ensemble(), {}, parameters, one_thread(), folder / "rmsd.npy");
    parameters.matrix = MatrixLayout::none;
    const Result without = run(ensemble(), {}, parameters, one_thread(), {});
    for (const Result* result : {&with, &without}) {
        EXPECT_EQ(result->statistics.pairs(), kFrames * (kFrames - 1) / 2);
        EXPECT_EQ(result->statistics.min(), *std::min_element(truth().begin(), truth().end()));
        EXPECT_EQ(result->statistics.max(), *std::max_element(truth().begin(), truth().end()));
        std::vector<std::int64_t> histogram(result->statistics.histogram().size());
        for (const float value : truth()) ++histogram.at(static_cast<std::size_t>(value / 0.05));
        EXPECT_EQ(result->statistics.histogram(), histogram);
        EXPECT_GT(result->statistics.histogram().back(), 0);
    }
    EXPECT_EQ(with.neighbours.indices, without.neighbours.indices);
    EXPECT_TRUE(std::equal(with.nearest.indices.begin(), with.nearest.indices.end(),
                           without.nearest.indices.begin()));
    EXPECT_EQ(with.statistics.mean(), without.statistics.mean());
}

TEST(Run, ListsNeighboursAndNearestFrames) {
    Parameters parameters;
    parameters.matrix = MatrixLayout::none;
    parameters.cutoff = 1.7;
    parameters.nearest = 4;
    const Result result = run(ensemble(), {}, parameters, one_thread(), {});
    ASSERT_EQ(result.neighbours.starts.size(), static_cast<std::size_t>(kFrames) + 1);
    ASSERT_GT(result.neighbours.indices.size(), 0U);
    for (Index i = 0; i < kFrames; ++i) {
        std::vector<std::int32_t> near;
        std::vector<std::pair<float, Index>> others;
        for (Index j = 0; j < kFrames; ++j) {
            if (j != i && truth_of(i, j) < 1.7f) near.push_back(static_cast<std::int32_t>(j));
            if (j != i) others.emplace_back(truth_of(i, j), j);
        }
        const auto first = result.neighbours.indices.begin() + result.neighbours.starts[i];
        const auto last = result.neighbours.indices.begin() + result.neighbours.starts[i + 1];
        ASSERT_EQ(std::vector<std::int32_t>(first, last), near) << i;
        std::sort(others.begin(), others.end());
        for (Index rank = 0; rank < 4; ++rank) {
            ASSERT_EQ(result.nearest.indices(i, rank), others[rank].second);
            ASSERT_EQ(result.nearest.values(i, rank), others[rank].first);
        }
    }
}

struct StopAtOnce final : Progress {
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view note) override {
        resumed = resumed || note == "resumed";
    }
    bool cancelled() override { return stops; }
    void message(std::string_view) override {}
    bool stops = true, resumed = false;
};

TEST(Run, ResumesAfterACancelWithTheSameBits) {
    const pleat::test::TemporaryFolder folder;
    StopAtOnce progress;
    Context context = one_thread();
    context.progress = &progress;
    context.checkpoint = folder / "tiles.bin";
    EXPECT_THROW(run(ensemble(), {}, Parameters(), context, folder / "rmsd.npy"), Cancelled);
    EXPECT_FALSE(std::filesystem::exists(folder / "rmsd.npy"));
    progress.stops = false;
    run(ensemble(), {}, Parameters(), context, folder / "rmsd.npy");
    EXPECT_TRUE(progress.resumed);
    EXPECT_EQ(read_npy(folder / "rmsd.npy").as<float>("rmsd"), truth());
    Parameters other;
    other.precision = FitPrecision::float64;
    EXPECT_THROW(run(ensemble(), {}, other, context, folder / "rmsd.npy"), InputError);
    // Tiles were computed for the cutoff that they were made with.
    other = {};
    other.cutoff = 1.7;
    EXPECT_THROW(run(ensemble(), {}, other, context, folder / "rmsd.npy"), InputError);
}

TEST(Run, TheSmallestCutoffListsNothing) {
    Parameters parameters;
    parameters.matrix = MatrixLayout::none;
    parameters.cutoff = 1e-30;
    const Array<float, 3> few = random_ensemble(9, 5, 1.0, 3);
    const Result result = run(few, {}, parameters, one_thread(), {});
    EXPECT_EQ(result.neighbours.starts, std::vector<std::int64_t>(10, 0));
    for (const double beyond : {1e-50, 1e50, 0.0}) {
        parameters.cutoff = beyond;
        EXPECT_THROW(run(few, {}, parameters, one_thread(), {}), UsageError) << beyond;
    }
}

TEST(Run, MoreNearestThanOtherFramesNeedNoMoreMemory) {
    Parameters parameters;
    parameters.nearest = 1'000'000;
    const Device cpu{Device::Kind::cpu, 0};
    EXPECT_LT(memory_needed(10'000, 10, parameters, cpu), std::int64_t{1} << 30);
    parameters.nearest = 9'999;
    EXPECT_GT(memory_needed(10'000, 10, parameters, cpu), 8 * 10'000 * std::int64_t{9'999});
    parameters.nearest = 100;
    parameters.matrix = MatrixLayout::none;
    const Array<float, 3> few = random_ensemble(9, 5, 1.0, 3);
    const Result result = run(few, {}, parameters, one_thread(), {});
    ASSERT_EQ(result.nearest.indices.extent(1), 8);
    for (Index i = 0; i < 9; ++i)
        for (Index rank = 1; rank < 8; ++rank)
            EXPECT_GE(result.nearest.values(i, rank), result.nearest.values(i, rank - 1));
}

TEST(Lists, NearestFramesAreSortedInAnyOrder) {
    std::mt19937 random(5);
    for (const float sign : {1.0f, -1.0f}) {
        for (const Index kept : {1, 2, 3, 7, 40}) {
            NearestLists nearest(2, kept, 40);
            std::vector<float> values;
            for (int n = 0; n < 40; ++n) values.push_back(static_cast<float>(random() % 9));
            nearest.add({1, 1}, values.data(), 2, sign);
            nearest.sort(2);
            std::vector<Index> order(40);
            std::iota(order.begin(), order.end(), Index{0});
            std::ranges::stable_sort(
                order, [&](Index a, Index b) { return sign * values[a] < sign * values[b]; });
            ASSERT_EQ(nearest.length(), kept);
            for (Index rank = 0; rank < kept; ++rank) {
                ASSERT_EQ(nearest.items(1, rank), order[rank]) << sign << ' ' << kept;
                ASSERT_EQ(sign * nearest.distances(1, rank), values[order[rank]]);
                ASSERT_EQ(nearest.items(0, rank), std::numeric_limits<std::int32_t>::max())
                    << "no frame was offered";
            }
        }
    }
}

TEST(Lists, AreRefusedBeforeMemoryRunsOut) {
    require_list_memory(1, 28);
    try {
        require_list_memory(Index{1} << 50, std::int64_t{28} << 50);
        FAIL();
    } catch (const DeviceError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("the list of 1125899906842624 pairs"), std::string::npos) << text;
        EXPECT_NE(text.find("take a smaller --cutoff"), std::string::npos) << text;
    }
}

TEST(Run, OneFrameHasNoPairs) {
    const pleat::test::TemporaryFolder folder;
    const Array<float, 3> one = random_ensemble(1, 5, 1.0, 3);
    Parameters parameters;
    parameters.nearest = 2;
    parameters.cutoff = 1;
    const Result result = run(one, {}, parameters, one_thread(), folder / "rmsd.npy");
    EXPECT_EQ(result.statistics.pairs(), 0);
    EXPECT_EQ(result.statistics.mean(), 0.0);
    EXPECT_EQ(read_npy(folder / "rmsd.npy").shape, std::vector<Index>({0}));
}

TEST(Run, RefusesWhatMakesNoSense) {
    const auto refused = [](View<const float, 3> xyz, std::vector<double> weights) {
        Parameters parameters;
        parameters.matrix = MatrixLayout::none;
        EXPECT_THROW(run(xyz, {{}, {}, weights}, parameters, one_thread(), {}), InputError);
    };
    Parameters none;
    none.matrix = MatrixLayout::none;
    const View<const float, 3> plane{ensemble().data(), 100, 4, 2};
    EXPECT_THROW(run(plane, {}, none, one_thread(), {}), UsageError);
    refused(ensemble(), {1.0, 2.0});
    refused({ensemble().data(), 0, 4, 3}, {});
    refused({ensemble().data(), 4, 0, 3}, {});
    refused(ensemble(), std::vector<double>(kAtoms, 0.0));
    refused(ensemble(), std::vector<double>(kAtoms, -1.0));
    refused(ensemble(), std::vector<double>(kAtoms, std::nan("")));
    EXPECT_THROW(run(ensemble(), {}, Parameters(), one_thread(), {}), UsageError);
    Parameters wrong;
    wrong.cutoff = -1;
    EXPECT_THROW(run(ensemble(), {}, wrong, one_thread(), {}), UsageError);
}

}  // namespace
}  // namespace pleat::rmsd
