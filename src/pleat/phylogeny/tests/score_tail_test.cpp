// Tests of the score tail: counts by definition, the fitted gamma distribution, and its p.
#include "pleat/phylogeny/score_tail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace pleat::phylogeny {
namespace {

TEST(ScoreTail, FitsGammaDistributions) {
    std::mt19937 random(3);
    for (const double shape : {0.5, 1.0, 7.0}) {
        std::gamma_distribution<double> gamma(shape, 2.5);
        std::vector<double> values(40000);
        for (double& value : values) value = gamma(random);
        const ScoreTail fitted = fit_gamma(values);
        EXPECT_NEAR(fitted.shape / shape, 1, 0.03);
        EXPECT_NEAR(fitted.shape * fitted.scale / (2.5 * shape), 1, 0.02);
    }
    EXPECT_EQ(fit_gamma(std::vector<double>{2, 2, 2}).shape, 0);
    EXPECT_EQ(fit_gamma(std::vector<double>{2}).shape, 0);
}

TEST(ScoreTail, CountsNullScoresBelowTheThresholdAndExtrapolatesAbove) {
    const std::vector<double> observed = {5, -1, 12, 0.25, 30};
    std::mt19937 random(5);
    std::exponential_distribution<double> exponential(1);
    std::vector<double> nulls(500000);
    for (double& score : nulls) score = exponential(random);
    nulls[0] = nulls[1] = 0.25;
    ScorePool pool(observed, 100000, 0.001), reversed(observed, 100000, 0.001);
    for (std::size_t first = 0; first < nulls.size(); first += 5) pool.add({&nulls[first], 5});
    for (std::size_t first = nulls.size(); first > 0; first -= 5)
        reversed.add({&nulls[first - 5], 5});
    const ScoreTail tail = pool.fit();
    EXPECT_NEAR(tail.threshold, std::log(1000), 0.15);
    EXPECT_EQ(tail.mass, 0.001);
    EXPECT_EQ(tail.max, *std::max_element(nulls.begin(), nulls.end()));
    const std::vector<double> p = pool.p(tail);
    const auto above = [&](double score) {
        return (1.0 + static_cast<double>(std::count_if(nulls.begin(), nulls.end(),
                                                        [&](double s) { return s >= score; }))) /
               500001;
    };
    EXPECT_EQ(p[0], above(5));
    EXPECT_EQ(p[1], 1);
    EXPECT_EQ(p[3], above(0.25));
    EXPECT_NEAR(std::log(p[2]), -12, 0.5);
    EXPECT_NEAR(std::log(p[4]), -30, 3);
    EXPECT_EQ(reversed.p(reversed.fit()), p);
}

TEST(ScoreTail, CountsOnlyIfTheLargestScoresAreEqual) {
    const std::vector<double> observed = {2, 3};
    ScorePool pool(observed, 100, 0.01);
    ScorePool other = pool;
    for (int null = 0; null < 50; ++null) pool.add(observed);
    for (int null = 0; null < 50; ++null) other.add(observed);
    pool.merge(other);
    EXPECT_EQ(pool.p(pool.fit()), (std::vector<double>{1, 101.0 / 201}));
}

}  // namespace
}  // namespace pleat::phylogeny
