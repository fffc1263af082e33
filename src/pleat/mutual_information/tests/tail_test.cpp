// Tests of the tails: numbers made with mpmath at 40 digits, identities, and random samples.
#include "pleat/mutual_information/exact/tail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace pleat::mutual_information {
namespace {

TEST(IncompleteGamma, AgreesWithMpmath) {
    // mpmath: gammainc(a, x, inf, regularized=True); by quadrature of the density for large a.
    const struct {
        double a, x, lower, upper;
    } kCases[] = {
        {0.5, 0.1, 0.34527915398142298, 0.65472084601857702},
        {0.5, 30, 0.99999999999999051, 9.4857375710738484e-15},
        {2, 1.5, 0.44217459962892543, 0.55782540037107457},
        {9.5, 9.5, 0.54316387440803762, 0.45683612559196238},
        {10.5, 80, 1.0, 2.1654923560190825e-23},
        {123.4, 100, 0.013003179139264253, 0.98699682086073575},
        {123.4, 400, 1.0, 1.2654097907289282e-59},
        {1e4, 10300, 0.99852950510361432, 0.0014704948963856813},
        {1e6, 995000, 2.7495803592700708e-7, 0.99999972504196407},
        {1e6, 1009000, 1.0, 1.4365336260677975e-19},
        {1e8, 100150000, 1.0, 4.107530242885513e-51},
    };
    for (const auto& expected : kCases) {
        const IncompleteGamma found = incomplete_gamma(expected.a, expected.x);
        EXPECT_NEAR(found.lower, expected.lower, 1e-10 * expected.lower) << expected.a;
        EXPECT_NEAR(found.upper, expected.upper, 1e-10 * expected.upper) << expected.a;
    }
    EXPECT_EQ(incomplete_gamma(3, 0).upper, 1);
    EXPECT_EQ(incomplete_gamma(3, -1).lower, 0);
    // Shape 1 is the exponential distribution; below 1e-300 it is still there.
    EXPECT_NEAR(incomplete_gamma(1, 700).upper, std::exp(-700), 1e-11 * std::exp(-700));
}

TEST(PearsonTail, AgreesWithMpmath) {
    const struct {
        double z, skewness, tail;
    } kCases[] = {
        {3, 0.5, 0.0054257453558362276},   {8, 1.2, 9.5545197962427585e-6},
        {25, 2.5, 2.5602090242056365e-10}, {3, -0.5, 4.8926107198778522e-6},
        {5, -0.3, 4.123479746815079e-14},  {10, 0.01, 3.7971687748263197e-23},
        {-1, 0.7, 0.84794659021701443},    {4, 2e-4, 3.1738207368808895e-5},
    };
    for (const auto& expected : kCases)
        EXPECT_NEAR(pearson_tail(expected.z, expected.skewness), expected.tail,
                    1e-10 * expected.tail)
            << expected.z << " " << expected.skewness;
}

TEST(PearsonTail, IsContinuousMirroredAndZeroBeyondItsSupport) {
    for (const double z : {-3.0, 0.0, 1.0, 4.0}) {
        const double normal = pearson_tail(z, 0);
        EXPECT_NEAR(normal, 0.5 * std::erfc(z / std::sqrt(2)), 1e-15);
        for (const double skewness : {0.99e-4, 1.01e-4, -1.01e-4})
            EXPECT_NEAR(pearson_tail(z, skewness), normal, 2e-3 * normal) << z;
        for (const double skewness : {0.2, 1.0, 3.0})
            EXPECT_NEAR(pearson_tail(z, skewness), 1 - pearson_tail(-z, -skewness), 1e-12);
    }
    EXPECT_EQ(pearson_tail(-2.01, 1), 1);  // the support begins at -2 / skewness
    EXPECT_EQ(pearson_tail(2.01, -1), 0);
    EXPECT_TRUE(std::isnan(pearson_tail(std::nan(""), 1)));
    EXPECT_TRUE(std::isnan(pearson_tail(1, std::nan(""))));
    double before = 1;
    for (double z = -3; z < 30; z += 0.01) {
        const double tail = pearson_tail(z, 0.8);
        EXPECT_LE(tail, before);
        before = tail;
    }
}

TEST(GammaTail, HasItsMeanAndVarianceInSamples) {
    std::mt19937_64 random(3);
    const double shape = 2.3, scale = 0.04, x = 0.25;
    std::gamma_distribution<double> gamma(shape, scale);
    int reached = 0;
    const int draws = 200'000;
    for (int draw = 0; draw < draws; ++draw) reached += gamma(random) >= x;
    const double tail = gamma_tail(x, shape * scale, shape * scale * scale);
    EXPECT_NEAR(reached, tail * draws, 5 * std::sqrt(tail * draws));
    EXPECT_TRUE(std::isnan(gamma_tail(0, 0, 0)));
    EXPECT_EQ(gamma_tail(0, 0.3, 0.01), 1);
}

}  // namespace
}  // namespace pleat::mutual_information
