// Differences and hypergeometric laws: against definitions in longer arithmetic.
#include "pleat/mutual_information/exact/hahn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace pleat::mutual_information {

namespace {

TEST(Differences, AgreeWithTheDefinitionForSmallCounts) {
    const Differences differences(40);
    std::vector<long double> f(41);
    for (int x = 1; x <= 40; ++x) f[x] = x * std::log2(static_cast<long double>(x));
    for (int m = 1; m <= 6; ++m) {
        for (int x = 0; x + m <= 40; ++x) f[x] = f[x + 1] - f[x];
        // The definition loses 2^m units of the last place of F(40).
        for (int x = 0; x + m <= 40; ++x)
            ASSERT_NEAR(differences.order(m)[x], static_cast<double>(std::abs(f[x])),
                        1e-14 * differences.order(m)[x] + 2e-15)
                << m << " " << x;
        f.resize(f.size() - 1);
    }
}

// x lg x has the derivative of order m (-1)^m (m - 2)! / (ln 2 x^(m-1)), of which the difference is
// the mean over m uniform steps: at x + m/2 to second order.
TEST(Differences, FollowTheDerivativesForLargeCounts) {
    const Differences differences(200000);
    for (int m = 2; m <= 12; ++m) {
        for (const Index x : {5000, 60000, 200000}) {
            const double centre = static_cast<double>(x) + m / 2.0;
            const double correction = 1 + m * (m - 1.0) * m / (24 * centre * centre);
            const double expected =
                std::tgamma(m - 1) / (std::log(2.0) * std::pow(centre, m - 1)) * correction;
            EXPECT_NEAR(differences.order(m)[x], expected, 3e-9 * expected) << m << " " << x;
            if (x < 60000) continue;
            EXPECT_NEAR(differences.order(m)[x], expected, 2e-12 * expected) << m << " " << x;
        }
    }
}

TEST(Differences, SatisfyTheirRecurrence) {
    const Differences differences(3000);
    for (int m = 2; m < Differences::kMaxOrder; ++m) {
        const Index length = std::min(differences.length(m), differences.length(m + 1)) - 1;
        for (Index x = 0; x < length; x += 1 + x / 8) {
            const double sum = differences.order(m)[x + 1] + differences.order(m + 1)[x];
            ASSERT_NEAR(differences.order(m)[x], sum, 1e-12 * sum) << m << " " << x;
        }
    }
}

TEST(Hypergeometric, HasExactProbabilities) {
    ProbabilityWindow law;
    hypergeometric(10, 4, 3, kTail, 0, law);
    ASSERT_EQ(law.first, 0);
    ASSERT_EQ(law.size(), 4);
    const double expected[] = {20 / 120.0, 60 / 120.0, 36 / 120.0, 4 / 120.0};
    for (int x = 0; x < 4; ++x) EXPECT_NEAR(law.probability[x], expected[x], 3e-16);
    hypergeometric(10, 10, 3, kTail, 5, law);
    EXPECT_EQ(law.first, 3);
    EXPECT_EQ(law.probability, std::vector<double>{1});
}

TEST(Hypergeometric, IsAccurateInLongAlignments) {
    ProbabilityWindow law;
    for (const auto& [all, marked, drawn] :
         {std::tuple<Index, Index, Index>{753, 300, 420}, {100000, 40000, 30000}, {5000, 3, 2}}) {
        hypergeometric(all, marked, drawn, kTail, 4, law);
        const auto lf = [](Index n) { return std::lgamma(static_cast<long double>(n) + 1); };
        const auto choose = [&](Index n, Index k) { return lf(n) - lf(k) - lf(n - k); };
        double mean = 0;
        for (Index at = 0; at < law.size(); ++at) {
            const Index x = law.first + at;
            const auto expected = static_cast<double>(
                std::exp(choose(marked, x) + choose(all - marked, drawn - x) - choose(all, drawn)));
            EXPECT_NEAR(law.probability[at], expected, 3e-13 * expected) << x;
            mean += law.probability[at] * static_cast<double>(x);
        }
        const double expected =
            static_cast<double>(marked) * static_cast<double>(drawn) / static_cast<double>(all);
        EXPECT_NEAR(mean, expected, 1e-13 * expected);
    }
}

}  // namespace

}  // namespace pleat::mutual_information
