// Tests of states: transitions and visits of made trajectories whose counts are known.
#include "pleat/cluster/states.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace pleat::cluster {
namespace {

using Row = std::tuple<int, int, int, int>;

std::vector<Row> rows(const std::vector<Transition>& transitions) {
    std::vector<Row> all;
    for (const Transition& one : transitions)
        all.emplace_back(one.from, one.to, one.count, one.from_count);
    return all;
}

std::vector<Row> rows(const std::vector<DwellCount>& dwells) {
    std::vector<Row> all;
    for (const DwellCount& one : dwells)
        all.emplace_back(one.cluster, one.dwell, one.visits, one.cut);
    return all;
}

/// Two files: 0011-1100 and 10001.
const std::vector<std::int32_t> kAssignment = {0, 0, 1, 1, -1, 1, 1, 0, 0, 1, 0, 0, 0, 1};
const std::vector<Index> kFiles = {9, 5};

TEST(States, CountsTransitionsWithinFiles) {
    EXPECT_EQ(
        rows(count_transitions(kAssignment, kFiles)),
        (std::vector<Row>{
            {-1, 1, 1, 1}, {0, 0, 4, 6}, {0, 1, 2, 6}, {1, -1, 1, 5}, {1, 0, 2, 5}, {1, 1, 2, 5}}));
    EXPECT_DOUBLE_EQ(count_transitions(kAssignment, kFiles)[1].probability, 4.0 / 6);
    // As one series there is the step from the first file to the second.
    EXPECT_EQ(rows(count_transitions(kAssignment, {}))[2], Row(0, 1, 3, 7));
}

TEST(States, CountsTransitionsOverALag) {
    EXPECT_EQ(
        rows(count_transitions(kAssignment, kFiles, 4)),
        (std::vector<Row>{{-1, 0, 1, 1}, {0, -1, 1, 2}, {0, 1, 1, 2}, {1, 0, 1, 3}, {1, 1, 2, 3}}));
    EXPECT_TRUE(count_transitions(kAssignment, kFiles, 9).empty());
    EXPECT_TRUE(count_transitions(kAssignment, {}, 1'000'000).empty());
}

TEST(States, SetsVisitsApartThatAFileCuts) {
    const std::vector<DwellCount> dwells = count_dwells(kAssignment, kFiles);
    EXPECT_EQ(
        rows(dwells),
        (std::vector<Row>{{-1, 1, 1, 0}, {0, 2, 0, 2}, {0, 3, 1, 0}, {1, 1, 0, 2}, {1, 2, 2, 0}}));
    const std::vector<DwellTimes> times = summarise_dwells(dwells);
    ASSERT_EQ(times.size(), 3u);
    EXPECT_EQ(times[1].cluster, 0);
    EXPECT_EQ(std::tuple(times[1].items, times[1].visits, times[1].longest, times[1].cut,
                         times[1].longest_cut),
              std::tuple(7, 1, 3, 2, 2));
    EXPECT_EQ(std::tuple(times[2].items, times[2].visits, times[2].mean, times[2].median),
              std::tuple(6, 2, 2.0, 2.0));
}

TEST(States, FindsMeansAndMedians) {
    // Visits of cluster 0 of 1, 2, 2 and 7 frames.
    const std::vector<std::int32_t> assignment = {1, 0, 1, 0, 0, 1, 0, 0, 1,
                                                  0, 0, 0, 0, 0, 0, 0, 1};
    const DwellTimes even = summarise_dwells(count_dwells(assignment, {}))[0];
    EXPECT_EQ(std::tuple(even.visits, even.mean, even.median, even.longest, even.cut),
              std::tuple(4, 3.0, 2.0, 7, 0));
    const std::vector<DwellCount> two = {{0, 2, 1, 0}, {0, 5, 1, 1}};
    EXPECT_EQ(summarise_dwells(two)[0].median, 3.5);
    EXPECT_EQ(summarise_dwells(two)[0].items, 12);
}

TEST(States, TakesAFileOfOneClusterAsCut) {
    const std::vector<std::int32_t> assignment(5, 2);
    const DwellTimes times = summarise_dwells(count_dwells(assignment, {}))[0];
    EXPECT_EQ(std::tuple(times.visits, times.cut, times.longest_cut, times.items),
              std::tuple(0, 1, 5, 5));
    EXPECT_TRUE(count_dwells({}, {}).empty());
    EXPECT_TRUE(count_transitions({}, {}).empty());
    EXPECT_THROW(count_dwells(assignment, kFiles), std::logic_error);
}

TEST(States, CountsEveryItemAndEveryStepOnce) {
    std::mt19937 random(7);
    std::vector<std::int32_t> assignment;
    for (int n = 0; n < 1000; ++n) assignment.push_back(static_cast<int>(random() % 4) - 1);
    const std::vector<Index> lengths = {1, 0, 499, 1, 499};
    std::int64_t items = 0, stays = 0, steps = 0, changes = 0;
    for (const DwellTimes& one : summarise_dwells(count_dwells(assignment, lengths)))
        items += one.items;
    for (const DwellCount& one : count_dwells(assignment, lengths))
        stays += (one.dwell - 1) * (one.visits + one.cut);
    for (const Transition& one : count_transitions(assignment, lengths)) {
        steps += one.count;
        if (one.from != one.to) changes += one.count;
    }
    EXPECT_EQ(items, 1000);
    EXPECT_EQ(steps, 2 * 498);
    EXPECT_EQ(stays, steps - changes);
}

}  // namespace
}  // namespace pleat::cluster
