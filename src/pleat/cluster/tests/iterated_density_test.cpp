// Iterated density beside its definition, which adds up all distances again in each round.
#include "pleat/cluster/methods/methods.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pleat/cluster/tests/random_pairs.h"
#include "pleat/core/error.h"

namespace pleat::cluster {
namespace {

using test::grouped_pairs;
using test::OddBands;
using test::random_pairs;
using test::threads;

std::vector<DensityRound> by_definition(const StoredPairs& distances, Index keep, double drop) {
    std::vector<Index> left;
    for (Index i = 0; i < distances.count(); ++i) left.push_back(i);
    std::vector<DensityRound> rounds(left.size());
    for (std::int32_t round = 1;; ++round) {
        std::vector<std::pair<double, Index>> sums;
        for (const Index i : left) {
            double sum = 0;
            for (const Index j : left) sum += static_cast<double>(distances.at(i, j));
            sums.emplace_back(sum, i);
        }
        const auto all = static_cast<Index>(left.size());
        const bool is_last = all <= keep;
        for (const auto& [sum, i] : sums)
            rounds[i] = {is_last ? DensityRound::kLeft : round,
                         all > 1 ? sum / static_cast<double>(all - 1) : 0};
        if (is_last) return rounds;
        std::sort(sums.begin(), sums.end());
        const auto share = static_cast<Index>(std::floor(drop * static_cast<double>(all)));
        sums.resize(static_cast<std::size_t>(all - std::clamp<Index>(share, 1, all - keep)));
        left.clear();
        for (const auto& [sum, i] : sums) left.push_back(i);
        std::sort(left.begin(), left.end());
    }
}

double largest(const StoredPairs& distances) {
    double max = 0;
    for (const float value : distances.condensed()) max = std::max(max, static_cast<double>(value));
    return max;
}

void expect_definition(const StoredPairs& distances, Index keep, double drop) {
    const std::vector<DensityRound> expected = by_definition(distances, keep, drop);
    const OddBands computed(distances, 3);
    for (const PairSource* source :
         {static_cast<const PairSource*>(&distances), static_cast<const PairSource*>(&computed)})
        for (const int many : {1, 3}) {
            const std::vector<DensityRound> found =
                iterate_density(*source, keep, drop, largest(distances), threads(many));
            ASSERT_EQ(found.size(), expected.size());
            for (std::size_t i = 0; i < found.size(); ++i) {
                EXPECT_EQ(found[i].round, expected[i].round) << i;
                EXPECT_NEAR(found[i].mean, expected[i].mean, 1e-9 * (1 + expected[i].mean)) << i;
            }
        }
}

TEST(IteratedDensity, IsItsDefinition) {
    // Distances that are small whole numbers have exact sums, and many equal ones.
    for (const Index count : {1, 2, 5, 64, 130})
        for (const Index keep : {Index{1}, std::max<Index>(1, count / 3), count})
            for (const double drop : {0.01, 0.1, 0.5, 0.9}) {
                SCOPED_TRACE(testing::Message() << count << ' ' << keep << ' ' << drop);
                expect_definition(random_pairs(count, 3, 11), keep, drop);
            }
    expect_definition(grouped_pairs(300, 7, 3), 20, 0.1);
}

TEST(IteratedDensity, LeavesTheDensestGroup) {
    // Five items near each other, three far from all.
    std::vector<float> pairs;
    for (Index i = 0; i < 8; ++i)
        for (Index j = i + 1; j < 8; ++j) pairs.push_back(j < 5 ? 1.0F : 1e6F);
    const StoredPairs distances(8, pairs);
    Parameters parameters;
    parameters.method = Method::iterated_density;
    parameters.drop = 0.2;
    EXPECT_THROW(run(distances, parameters, threads(1)), UsageError) << "without keep";
    parameters.keep = 5;
    const Result result = run(distances, parameters, threads(1));
    EXPECT_EQ(result.clustering.assignment, (std::vector<std::int32_t>{0, 0, 0, 0, 0, -1, -1, -1}));
    ASSERT_EQ(result.clusters.size(), 1U);
    EXPECT_EQ(result.clusters[0].medoid, 0);
    EXPECT_EQ(result.clustering.centres, (std::vector<Index>{0}));
    EXPECT_EQ(result.rounds[7].round, 1) << "of equal ones the last";
    EXPECT_EQ(result.rounds[5].round, 3);
    EXPECT_NEAR(result.rounds[0].mean, 1, 1e-6);
    parameters.keep = 9;
    EXPECT_THROW(run(distances, parameters, threads(1)), UsageError) << "more than there are";
    parameters.keep = 3;
    parameters.method = Method::gromos;
    parameters.cutoff = 2.0;
    EXPECT_THROW(run(distances, parameters, threads(1)), UsageError) << "of another method";
}

TEST(IteratedDensity, TakesDistancesOfAnySize) {
    for (const float scale : {1e-30F, 1e30F}) {
        StoredPairs distances = grouped_pairs(40, 3, 5);
        std::vector<float> pairs = distances.condensed();
        for (float& pair : pairs) pair *= scale;
        const auto plain = iterate_density(distances, 10, 0.1, largest(distances), threads(1));
        const StoredPairs scaled(40, pairs);
        const auto found = iterate_density(scaled, 10, 0.1, largest(scaled), threads(1));
        for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].round, plain[i].round);
    }
}

}  // namespace
}  // namespace pleat::cluster
