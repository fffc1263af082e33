// Ranking: ranks and joint scores on counted examples, against definitions done the slow way, and
// clusters that are selected for contacts that the first one does not explain.
#include "pleat/workflows/select/ranking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "pleat/core/array.h"
#include "pleat/core/error.h"

namespace pleat::select {
namespace {

/// Owns what an Evidence shows.
struct Case {
    std::vector<std::vector<int>> formed_contacts;
    std::vector<double> contact_strengths;
    std::vector<std::int32_t> assignment;
    std::vector<double> density, chi2, score = {};

    Ranking run(const Parameters& parameters = {}) {
        marks = Array<std::uint8_t, 2>(static_cast<Index>(formed_contacts.size()),
                                       static_cast<Index>(contact_strengths.size()));
        for (Index f = 0; f < marks.extent(0); ++f)
            for (Index c = 0; c < marks.extent(1); ++c)
                marks(f, c) = static_cast<std::uint8_t>(formed_contacts[f][c]);
        return rank({marks, contact_strengths, assignment, density, chi2, score}, parameters);
    }
    Array<std::uint8_t, 2> marks = {};
};

TEST(Ranks, GoFromWorstToBestAndEqualValuesShareTheirMean) {
    const std::vector<double> values = {3, 1, 3, 7, 3};
    EXPECT_EQ(ranks_of(values, true), (std::vector<double>{0.5, 0, 0.5, 1, 0.5}));
    EXPECT_EQ(ranks_of(values, false), (std::vector<double>{0.5, 1, 0.5, 0, 0.5}));
    EXPECT_EQ(ranks_of(std::vector<double>{4}, true), std::vector<double>{0.5});
    EXPECT_EQ(ranks_of(std::vector<double>{2, 2}, false), (std::vector<double>{0.5, 0.5}));
    EXPECT_TRUE(ranks_of({}, true).empty());
}

TEST(Ranks, AgreeWithCountingOnRandomValuesWithTies) {
    std::mt19937 random(7);
    for (int round = 0; round < 20; ++round) {
        std::vector<double> values(2 + random() % 40);
        for (double& value : values) value = static_cast<double>(random() % 9);
        const std::vector<double> ranks = ranks_of(values, round % 2 == 0);
        for (std::size_t i = 0; i < values.size(); ++i) {
            double worse = 0, equal = 0;
            for (const double other : values) {
                worse += round % 2 == 0 ? other < values[i] : other > values[i];
                equal += other == values[i];
            }
            EXPECT_NEAR(ranks[i],
                        (worse + (equal - 1) / 2) / static_cast<double>(values.size() - 1), 1e-12);
        }
    }
}

/// Two folds of three frames, and one frame of its own. The first fold is the fuller one and forms
/// the stronger contacts 0 and 1; the second forms 2, which the lone frame does not.
Case two_folds() {
    return {.formed_contacts = {{1, 1, 0, 0},
                                {1, 1, 0, 0},
                                {1, 0, 0, 0},
                                {0, 0, 1, 0},
                                {0, 0, 1, 0},
                                {0, 0, 1, 0},
                                {1, 1, 0, 0}},
            .contact_strengths = {0.9, 0.8, 0.5, 0.3},
            .assignment = {0, 0, 0, 1, 1, 1, 2},
            .density = {0.5, 0.5, 0.4, 0.3, 0.3, 0.3, 0.1},
            .chi2 = {}};
}

TEST(Ranking, ScoresAreSharesOfStrength) {
    Case example = two_folds();
    const Ranking result = example.run();
    EXPECT_NEAR(result.scores.contacts[0], 1.7 / 2.5, 1e-12);
    EXPECT_NEAR(result.scores.contacts[2], 0.9 / 2.5, 1e-12);
    EXPECT_NEAR(result.scores.contacts[4], 0.5 / 2.5, 1e-12);
    EXPECT_TRUE(result.scores.curve_rank.empty());
    // Contacts 0 and 1 are the first cluster's, so that 2 alone counts beside it.
    EXPECT_NEAR(result.scores.unexplained_share[0], 0, 1e-12);
    EXPECT_NEAR(result.scores.unexplained_share[4], 0.5 / 2.5, 1e-12);
    EXPECT_EQ(result.scores.position[0], 1);  // frame 1 is as good
    EXPECT_EQ(result.scores.position[1], 2);
    for (std::size_t f = 0; f < 7; ++f)
        EXPECT_NEAR(result.scores.joint_rank[f],
                    (result.scores.contact_rank[f] + result.scores.cluster_rank[f]) / 2, 1e-12);
}

TEST(Ranking, SelectsTheSecondFoldForContactsThatTheFirstDoesNotExplain) {
    Case example = two_folds();
    const Ranking any_size = example.run({.cluster_weight = 0.1, .min_size = 1});
    ASSERT_EQ(any_size.clusters.size(), 3U);
    EXPECT_EQ(any_size.clusters[1].cluster, 1);
    EXPECT_EQ(any_size.clusters[2].cluster, 2);
    // By joint scores alone the lone frame would be second.
    EXPECT_GT(any_size.clusters[2].joint_rank, any_size.clusters[1].joint_rank);
    EXPECT_EQ(any_size.clusters[2].added, 0);
    const Ranking larger = example.run({.cluster_weight = 0.1});
    EXPECT_EQ(larger.clusters[0].cluster, 0);
    EXPECT_EQ(larger.clusters[0].selected, 1);
    EXPECT_EQ(larger.clusters[0].best_frame, 0);
    EXPECT_NEAR(larger.clusters[0].added, 1.7 / 2.5, 1e-12);
    EXPECT_EQ(larger.clusters[1].cluster, 1);
    EXPECT_EQ(larger.clusters[1].selected, 2);
    EXPECT_NEAR(larger.clusters[1].added, 0.5 / 2.5, 1e-12);
    EXPECT_EQ(larger.clusters[2].selected, 0);  // too small
    EXPECT_TRUE(std::isnan(larger.clusters[2].added));
    EXPECT_EQ(larger.explained_by, (std::vector<Index>{1, 1, 2, 0}));
}

TEST(Ranking, AClusterExplainsAContactThatATenthOfItsFramesForms) {
    for (const int forming : {0, 1}) {
        Case example;
        for (int f = 0; f < 10; ++f) example.formed_contacts.push_back({1, f < forming ? 1 : 0});
        example.contact_strengths = {0.5, 0.5};
        example.assignment.assign(10, 0);
        example.density.assign(10, 0.5);
        EXPECT_EQ(example.run().explained_by[1], forming);
    }
}

TEST(Ranking, RanksALowChi2Higher) {
    Case example = two_folds();
    example.chi2 = {9, 8, 7, 1, 2, 3, 10};
    const Ranking result = example.run({.contact_weight = 0, .cluster_weight = 0});
    EXPECT_EQ(result.scores.position[3], 1);
    EXPECT_EQ(result.scores.position[6], 7);
    EXPECT_EQ(result.clusters[0].cluster, 1);
    EXPECT_EQ(result.clusters[0].chi2, 2);
    EXPECT_EQ(result.clusters[0].min_chi2, 1);
}

TEST(Ranking, RanksAHighScoreHigherAndAnUnknownOneLowest) {
    Case example = two_folds();
    const double unknown = -std::numeric_limits<double>::infinity();
    example.score = {1, unknown, 3, 7, 5, 6, unknown};
    const Ranking alone = example.run({.contact_weight = 0, .cluster_weight = 0});
    EXPECT_EQ(alone.scores.position, (std::vector<Index>{5, 6, 4, 1, 3, 2, 7}));
    EXPECT_EQ(alone.scores.score_rank[1], alone.scores.score_rank[6]);
    EXPECT_EQ(alone.clusters[0].cluster, 1);
    const Ranking all = example.run({.score_weight = 2});
    for (std::size_t f = 0; f < 7; ++f)
        EXPECT_NEAR(all.scores.joint_rank[f],
                    (all.scores.contact_rank[f] + all.scores.cluster_rank[f] +
                     2 * all.scores.score_rank[f]) /
                        4,
                    1e-12);
    EXPECT_THROW(example.run({.contact_weight = 0, .cluster_weight = 0, .score_weight = 0}),
                 UsageError);
    example.score.pop_back();
    EXPECT_THROW(example.run(), std::logic_error);
}

TEST(Ranking, RanksNoiseButNeverSelectsIt) {
    Case example = two_folds();
    example.assignment = {-1, -1, -1, 0, 0, 0, -1};
    const Ranking result = example.run();
    ASSERT_EQ(result.clusters.size(), 1U);
    EXPECT_EQ(result.clusters[0].cluster, 0);
    EXPECT_EQ(result.scores.position[0], 1);
    example.assignment.assign(7, -1);
    EXPECT_TRUE(example.run().clusters.empty());
}

TEST(Ranking, RanksASingleFrame) {
    Case example{.formed_contacts = {{1}},
                 .contact_strengths = {0.5},
                 .assignment = {0},
                 .density = {0},
                 .chi2 = {2}};
    const Ranking result = example.run({.min_size = 1});
    EXPECT_EQ(result.scores.position, std::vector<Index>{1});
    EXPECT_EQ(result.scores.joint_rank, std::vector<double>{0.5});
    EXPECT_EQ(result.clusters[0].selected, 1);
}

TEST(Ranking, RefusesZeroWeightsBadOptionsAndDifferentLengths) {
    Case example = two_folds();
    EXPECT_THROW(example.run({.contact_weight = 0, .cluster_weight = 0}), UsageError);
    EXPECT_THROW(example.run({.contact_weight = -1}), UsageError);
    EXPECT_THROW(example.run({.max_clusters = 0}), UsageError);
    example.density.pop_back();
    EXPECT_THROW(example.run(), std::logic_error);
}

}  // namespace
}  // namespace pleat::select
