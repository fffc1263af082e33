// Greedy clusters of a metric whose neighbours are computed again: those of stored neighbours.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

#include "pleat/cluster/methods/methods.h"
#include "pleat/cluster/tests/random_pairs.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/core/tests/thread_comm.h"

namespace pleat::cluster {
namespace {

using test::grouped_pairs;
using test::OddBands;
using test::threads;

constexpr std::int64_t kAll = std::int64_t{1} << 40;

void expect_same(const Clustering& found, const Clustering& expected) {
    EXPECT_EQ(found.assignment, expected.assignment);
    EXPECT_EQ(found.centres, expected.centres);
}

/// Distances among `count` points on a line with many at the same place.
StoredPairs stacked_pairs(Index count) {
    std::vector<float> pairs;
    for (Index i = 0; i < count; ++i)
        for (Index j = i + 1; j < count; ++j)
            pairs.push_back(static_cast<float>(std::abs(i * i % 11 - j * j % 11)));
    return {count, std::move(pairs)};
}

std::vector<StoredPairs> metrics() {
    std::vector<StoredPairs> all;
    for (const Index count : {1, 2, 3, 64, 65, 1100}) {
        all.push_back(stacked_pairs(count));
        for (const int groups : {1, 5, 9})
            all.push_back(grouped_pairs(count, groups, static_cast<std::uint64_t>(7 * count)));
    }
    return all;
}

TEST(Pruned, ClustersAreThoseOfStoredNeighbours) {
    for (const StoredPairs& stored : metrics())
        for (const double cutoff : {0.5, 1.0, 2.5, 100.0})
            for (const float noise : {0.0f, 0.02f})
                for (const auto& method : {gromos, gmx}) {
                    SCOPED_TRACE(testing::Message() << stored.count() << ' ' << cutoff);
                    const Clustering expected =
                        method(*find_neighbours(stored, cutoff, threads(1), kAll), threads(1));
                    for (const int many : {1, 3}) {
                        const OddBands source(stored, 17, noise, true);
                        const auto computed = find_neighbours(source, cutoff, threads(many), 0);
                        EXPECT_TRUE(computed->is_pruned());
                        expect_same(method(*computed, threads(many)), expected);
                    }
                }
}

TEST(Pruned, DistancesThatAreNoMetricAreNotPruned) {
    const StoredPairs stored = test::random_pairs(90, 6, 2);
    EXPECT_FALSE(find_neighbours(OddBands(stored, 17), 3.0, threads(1), 0)->is_pruned());
}

TEST(Pruned, ItemsFarFromTheCentreAreKnown) {
    const StoredPairs stored = grouped_pairs(1100, 9, 3);
    const OddBands source(stored, 17, 0, true);
    const auto computed = find_neighbours(source, 1.0, threads(1), 0);
    std::vector<Index> items(1100);
    std::iota(items.begin(), items.end(), Index{0});
    const std::vector<std::uint32_t> positions = computed->around(0, items);
    for (Index i = 0; i < 1100; ++i) {
        const float distance = i == 0 ? 0.0f : stored.at(0, i);
        EXPECT_EQ(positions[i] == ItemNeighbours::neighbour, distance < 1.0f) << i;
        if (distance > 2.001f || distance < 2.0f) {
            EXPECT_EQ(positions[i] == ItemNeighbours::far, distance > 2.001f) << i;
        }
    }
}

TEST(Pruned, ClustersAreTheSameOnRanks) {
    const StoredPairs stored = grouped_pairs(400, 5, 4);
    const OddBands source(stored, 17, 0.02f, true);
    for (const auto& method : {gromos, gmx}) {
        const Clustering expected =
            method(*find_neighbours(stored, 1.0, threads(1), kAll), threads(1));
        pleat::test::on_ranks(3, [&](Comm& comm) {
            Context context = threads(1);
            context.comm = &comm;
            expect_same(method(*find_neighbours(source, 1.0, context, 0), context), expected);
        });
    }
}

/// Asks to stop after so many reports.
struct StopAfter final : Progress {
    explicit StopAfter(int reports) : left(reports) {}
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view note) override {
        --left;
        resumed = resumed || note == "resumed";
    }
    bool cancelled() override { return left <= 0; }
    void message(std::string_view) override {}
    std::atomic<int> left;
    bool resumed = false;
};

TEST(Pruned, AStoppedSearchResumes) {
    const StoredPairs stored = grouped_pairs(400, 5, 4);
    const OddBands source(stored, 17, 0, true);
    const auto computed = find_neighbours(source, 0.4, threads(1), 0);
    const Clustering expected = gromos(*computed, threads(1));
    const pleat::test::TemporaryFolder folder;
    Context context = threads(1);
    context.checkpoint = folder / "checkpoint.npz";
    context.checkpoint_seconds = 0.0;
    for (int stops = 0; stops < 3; ++stops) {
        StopAfter progress(5);
        context.progress = &progress;
        EXPECT_THROW(gromos(*computed, context), Cancelled);
        EXPECT_EQ(progress.resumed, stops > 0);
    }
    StopAfter progress(1 << 30);
    context.progress = &progress;
    expect_same(gromos(*computed, context), expected);
    EXPECT_TRUE(progress.resumed);
    // The state is not that of another cutoff.
    EXPECT_THROW(gromos(*find_neighbours(source, 0.5, threads(1), 0), context), InputError);
}

}  // namespace
}  // namespace pleat::cluster
