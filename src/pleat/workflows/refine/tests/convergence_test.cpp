// Convergence: chains that agree, drift apart, or move slowly.
#include "pleat/workflows/refine/convergence/convergence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "pleat/core/array.h"

namespace pleat::refine {

namespace {

Array<double, 2> made_draws(Index chains, Index draws,
                            const std::function<double(Index, Index, double, double)>& value) {
    Array<double, 2> all(chains, draws);
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    for (Index chain = 0; chain < chains; ++chain)
        for (Index draw = 0; draw < draws; ++draw)
            all(chain, draw) =
                value(chain, draw, draw > 0 ? all(chain, draw - 1) : 0.0, normal(random));
    return all;
}

TEST(Convergence, IndependentDrawsCountEach) {
    const auto draws = made_draws(8, 500, [](Index, Index, double, double noise) { return noise; });
    const Convergence found = assess_convergence(draws.view());
    EXPECT_LT(found.r_hat, 1.005);
    EXPECT_NEAR(found.effective_size, 4000, 500);
    EXPECT_TRUE(found.is_reached());
}

TEST(Convergence, CorrelatedDrawsCountByTheirAutocorrelation) {
    // x' = 0.9 x + noise has (1 - 0.9) / (1 + 0.9) effective draws per draw.
    const auto draws = made_draws(
        16, 2000, [](Index, Index, double before, double noise) { return 0.9 * before + noise; });
    EXPECT_NEAR(assess_convergence(draws.view()).effective_size, 32000 / 19.0, 300);
}

TEST(Convergence, FindsAChainElsewhereAndOneThatIsWider) {
    const auto shifted = made_draws(8, 500, [](Index chain, Index, double, double noise) {
        return noise + (chain == 3 ? 1.0 : 0.0);
    });
    EXPECT_GT(assess_convergence(shifted.view()).r_hat, 1.03);
    EXPECT_FALSE(assess_convergence(shifted.view()).is_reached());
    const auto wider = made_draws(8, 500, [](Index chain, Index, double, double noise) {
        return noise * (chain == 3 ? 3.0 : 1.0);
    });
    EXPECT_GT(assess_convergence(wider.view()).r_hat, 1.03);
}

TEST(Convergence, FindsADriftThatAllChainsShare) {
    const auto draws = made_draws(8, 500, [](Index, Index draw, double, double noise) {
        return noise + 0.004 * static_cast<double>(draw);
    });
    EXPECT_GT(assess_convergence(draws.view()).r_hat, 1.1);
}

TEST(Convergence, InfiniteVarianceIsNoObstacle) {
    const auto draws = made_draws(8, 1000, [](Index, Index, double, double noise) {
        return std::tan(1.5707 * std::erf(noise / std::sqrt(2.0)));
    });
    EXPECT_LT(assess_convergence(draws.view()).r_hat, 1.01);
    EXPECT_NEAR(assess_convergence(draws.view()).effective_size, 8000, 1000);
}

TEST(Convergence, JudgesDegenerateChains) {
    const auto constant = made_draws(4, 100, [](Index, Index, double, double) { return 2.5; });
    EXPECT_DOUBLE_EQ(assess_convergence(constant.view()).r_hat, 1);
    EXPECT_DOUBLE_EQ(assess_convergence(constant.view()).effective_size, 400);
    const auto stuck = made_draws(
        4, 100, [](Index chain, Index, double, double) { return static_cast<double>(chain); });
    EXPECT_TRUE(std::isinf(assess_convergence(stuck.view()).r_hat));
    const auto few = made_draws(4, 3, [](Index, Index, double, double noise) { return noise; });
    EXPECT_TRUE(std::isinf(assess_convergence(few.view()).r_hat));
    EXPECT_EQ(assess_convergence(few.view()).effective_size, 0);
}

/// Values of lineages with these sizes: independent, or each lineage with a mean of its own.
struct MadeLineages {
    std::vector<double> values;
    std::vector<Index> lineages;

    MadeLineages(const std::vector<Index>& sizes, double apart, unsigned seed) {
        std::mt19937_64 random(seed);
        std::normal_distribution<double> normal;
        for (std::size_t lineage = 0; lineage < sizes.size(); ++lineage) {
            const double mean = apart * normal(random);
            for (Index n = 0; n < sizes[lineage]; ++n) {
                values.push_back(mean + normal(random));
                lineages.push_back(static_cast<Index>(lineage));
            }
        }
    }
    Convergence assess(Index count) const { return assess_lineages(values, lineages, count); }
};

TEST(Lineages, ShowHowManyConformationsAreIndependent) {
    const std::vector<Index> sizes(64, 16);
    double independent = 0, apart = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        independent += 1 / MadeLineages(sizes, 0, seed).assess(64).effective_size / 40;
        apart += 1 / MadeLineages(sizes, 3, seed).assess(64).effective_size / 40;
    }
    EXPECT_NEAR(1 / independent, 1024, 100);
    EXPECT_NEAR(1 / apart, 64 * 10.0 / (9 + 1.0 / 16), 8);  // total variance 10, of a mean 9 + 1/16
    EXPECT_LT(MadeLineages(sizes, 0, 1).assess(64).r_hat, 1.01);
    EXPECT_GT(MadeLineages(sizes, 3, 1).assess(64).r_hat, 1.02);
}

TEST(Lineages, CountNothingWhereOneHasTakenOver) {
    std::vector<Index> sizes(64);
    sizes[7] = 1024;
    const MadeLineages one(sizes, 0, 1);
    EXPECT_EQ(one.assess(64).effective_size, 0);
    EXPECT_NEAR(evidence_error(one.lineages, 64), 1, 1e-12);
    EXPECT_EQ(evidence_error(MadeLineages(std::vector<Index>(64, 2), 0, 1).lineages, 64), 0);
    EXPECT_TRUE(std::isinf(MadeLineages({4, 4, 4, 3}, 0, 1).assess(4).r_hat));
    EXPECT_EQ(
        assess_lineages(std::vector<double>(64, 2.5), std::vector<Index>(64), 4).effective_size,
        64);
}

}  // namespace

}  // namespace pleat::refine
