// Neighbours: bits and counts beside plain comparisons, kept and computed, near and at the cutoff.
#include "pleat/cluster/neighbours/neighbours.h"

#include <gtest/gtest.h>

#include <numeric>

#include "pleat/cluster/tests/random_pairs.h"
#include "pleat/core/tests/thread_comm.h"

namespace pleat::cluster {
namespace {

using test::OddBands;
using test::random_pairs;
using test::threads;

constexpr std::int64_t kAll = std::int64_t{1} << 40;

void expect_neighbours(const ItemNeighbours& found, const StoredPairs& truth, float cutoff) {
    const Index count = truth.count();
    ASSERT_EQ(found.count(), count);
    std::vector<Index> items(static_cast<std::size_t>(count));
    std::iota(items.rbegin(), items.rend(), Index{0});  // any order may be asked for
    std::size_t shown = 0;
    found.visit_rows(items, [&](Index item, const std::uint64_t* bits) {
        EXPECT_EQ(item, items[shown++]);
        std::int32_t degree = 0;
        for (Index j = 0; j < 64 * found.words(); ++j) {
            const bool expected = j < count && (j == item || truth.at(item, j) < cutoff);
            ASSERT_EQ((bits[j / 64] >> j % 64 & 1) != 0, expected) << item << ' ' << j;
            degree += expected;
        }
        EXPECT_EQ(found.degrees()[item], degree);
    });
    EXPECT_EQ(shown, items.size());
}

TEST(ItemNeighbours, AreThosePairsBelowTheCutoff) {
    for (const Index count : {1, 2, 3, 63, 64, 65, 128, 200, 1030}) {
        SCOPED_TRACE(count);
        const StoredPairs truth = random_pairs(count, 6, 5);
        // A distance equal to the cutoff is not below it.
        for (const float cutoff : {0.5f, 3.0f, 7.0f})
            for (const std::int64_t bytes : {kAll, std::int64_t{0}})
                for (const int many : {1, 3})
                    expect_neighbours(
                        *find_neighbours(OddBands(truth, 17), cutoff, threads(many), bytes), truth,
                        cutoff);
    }
}

TEST(ItemNeighbours, InDoubtAreDecidedByThePairItself) {
    const StoredPairs truth = random_pairs(150, 6, 6);
    const OddBands doubtful(truth, 20, 0.01f);
    for (const std::int64_t bytes : {kAll, std::int64_t{0}}) {
        expect_neighbours(*find_neighbours(doubtful, 3.0, threads(1), bytes), truth, 3.0f);
        expect_neighbours(*find_neighbours(doubtful, 3.005, threads(1), bytes), truth, 3.005f);
    }
}

TEST(ItemNeighbours, AreTheSameOnRanks) {
    const StoredPairs truth = random_pairs(200, 6, 5);
    for (const std::int64_t bytes : {kAll, std::int64_t{0}})
        pleat::test::on_ranks(3, [&](Comm& comm) {
            Context context = threads(1);
            context.comm = &comm;
            expect_neighbours(*find_neighbours(OddBands(truth, 17), 3.0, context, bytes), truth,
                              3.0f);
        });
}

TEST(StoredPairs, HaveBandsRowsAndPairsAmongItems) {
    const StoredPairs truth = random_pairs(90, 0, 7);
    EXPECT_EQ(test::condensed_pairs(truth), truth.condensed());
    const std::vector<Index> items = {89, 0, 17, 18, 19, 3};
    std::vector<float> rows(items.size() * 90);
    truth.rows(items, rows.data());
    for (std::size_t n = 0; n < items.size(); ++n)
        for (Index j = 0; j < 90; ++j) EXPECT_EQ(rows[90 * n + j], truth.at(items[n], j));
    std::vector<float> among;
    truth.among(items, [&](Block some, const float* values) {
        const Index count = static_cast<Index>(items.size());
        among.insert(among.end(), values,
                     values + pairs_before(some.first + some.count, count) -
                         pairs_before(some.first, count));
    });
    std::size_t at = 0;
    for (std::size_t a = 0; a < items.size(); ++a)
        for (std::size_t b = a + 1; b < items.size(); ++b)
            EXPECT_EQ(among.at(at++), truth.at(items[a], items[b]));
    EXPECT_EQ(at, among.size());
}

}  // namespace
}  // namespace pleat::cluster
