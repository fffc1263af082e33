// Tests of the pair statistics: direct formulas in long double, and degenerate columns.
#include "pleat/mutual_information/pairs/pair_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/exact/tail.h"
#include "pleat/mutual_information/tests/plain_counts.h"

namespace pleat::mutual_information {
namespace {

/// MI of a table in bits, from long double throughout.
long double plain_information(const std::vector<Index>& table, Index q_i, Index q_j) {
    std::vector<Index> r(q_i), c(q_j);
    const Index n = std::accumulate(table.begin(), table.end(), Index{0});
    for (Index a = 0; a < q_i; ++a)
        for (Index b = 0; b < q_j; ++b) r[a] += table[a * q_j + b], c[b] += table[a * q_j + b];
    long double sum = 0;
    for (Index a = 0; a < q_i; ++a) {
        for (Index b = 0; b < q_j; ++b) {
            const long double count = table[a * q_j + b];
            if (count > 0) sum += count / n * std::log2(count * n / r[a] / c[b]);
        }
    }
    return sum;
}

TEST(PairInformation, KeepsTenDigitsToAMillionRowsAndExactZeros) {
    std::mt19937_64 random(5);
    for (const Index rows : {50, 753, 100'000, 1'000'000}) {
        const Statistic statistic = make_statistic(rows);
        const Index q_i = 20, q_j = 17;
        for (int repeat = 0; repeat < 20; ++repeat) {
            std::vector<Index> table(q_i * q_j), r(q_i), c(q_j);
            for (Index row = 0; row < rows; ++row)
                ++table[std::min(random() % (q_i * q_j), random() % (q_i * q_j))];
            std::int64_t t = 0, t_i = 0, t_j = 0;
            for (Index a = 0; a < q_i; ++a) {
                for (Index b = 0; b < q_j; ++b) {
                    const Index count = table[a * q_j + b];
                    t += statistic.f[count], r[a] += count, c[b] += count;
                }
            }
            for (const Index count : r) t_i += statistic.f[count];
            for (const Index count : c) t_j += statistic.f[count];
            EXPECT_NEAR(pair_information(statistic, t_i, t_j, t),
                        static_cast<double>(plain_information(table, q_i, q_j)),
                        rows <= 100'000 ? 1e-11 : 1e-10);
        }
        // Independent counts r_a c_b / N, and one symbol: exactly 0, not nearly.
        const Index half = rows / 10 * 3, rest = rows - half;
        EXPECT_EQ(pair_information(statistic, statistic.f[half] + statistic.f[rest],
                                   statistic.f[rows], statistic.f[half] + statistic.f[rest]),
                  0);
    }
    const Statistic statistic = make_statistic(4 * 15 * 7);
    const auto& f = statistic.f;
    EXPECT_EQ(pair_information(statistic, f[4 * 8 * 7] + f[4 * 7 * 7], f[15 * 7] + f[3 * 15 * 7],
                               f[8 * 7] + f[3 * 8 * 7] + f[7 * 7] + f[3 * 7 * 7]),
              0);
}

TEST(JointEntropy, IsBetweenTheLargerEntropyAndTheSum) {
    std::mt19937_64 random(1);
    const CodedColumns columns = test::columns_of(
        {test::random_column(random, 90, 4), test::random_column(random, 90, 7, false)});
    const Statistic statistic = make_statistic(90);
    const auto t = test::observe_pairs(columns, statistic);
    const double joint = joint_entropies(statistic, t)[0];
    const double h_i = entropy(columns.margin(0), 90), h_j = entropy(columns.margin(1), 90);
    EXPECT_NEAR(h_i + h_j - joint, pair_information(columns, statistic, t)[0], 1e-11);
    EXPECT_GT(joint, std::max(h_i, h_j));
    EXPECT_EQ(joint_entropies(statistic, std::vector{statistic.f[90]})[0], 0);
    EXPECT_EQ(normalised_information(std::vector{0.0}, std::vector{0.0})[0], 0);
    EXPECT_EQ(normalised_information(std::vector{0.5}, std::vector{2.0})[0], 0.25);
}

TEST(Corrections, AgreeWithNumbersComputedByHand) {
    // Pairs 01 02 03 12 13 23; the means leave the diagonal out.
    const std::vector<double> mi{1, 2, 3, 4, 5, 9};
    const double m[] = {6 / 3.0, 10 / 3.0, 15 / 3.0, 17 / 3.0}, all = 24 / 6.0;
    const auto mip = product_corrected(mi, 4), mia = sum_corrected(mi, 4);
    for (Index i = 0; i < 4; ++i) {
        for (Index j = i + 1; j < 4; ++j) {
            const Index pair = pair_index(i, j, 4);
            EXPECT_NEAR(mip[pair], mi[pair] - m[i] * m[j] / all, 1e-14);
            EXPECT_NEAR(mia[pair], mi[pair] - (m[i] + m[j] - all), 1e-14);
        }
    }
    for (const double value : product_corrected(std::vector<double>(6, 0.0), 4))
        EXPECT_EQ(value, 0);
    EXPECT_EQ(product_corrected(std::vector{0.7}, 2)[0], 0);
}

TEST(SampledNull, AgreesWithSumsOfFloatsAndHasNoOverflow) {
    std::mt19937_64 random(7);
    const Statistic statistic = make_statistic(200);
    const double unit = statistic.moment_unit() / 200;
    NullSums sums(2);
    std::vector<double> bits;
    const int shuffles = 3000;
    for (int shuffle = 0; shuffle < shuffles; ++shuffle) {
        const double skewed = std::pow(static_cast<double>(random() % 1000) / 1000, 3) - 0.4;
        const auto difference =
            shuffle % 50 == 0 ? 0 : static_cast<std::int64_t>(std::ldexp(skewed, 40) * 200);
        test::add_difference(sums, 0, difference, statistic.shift);
        bits.push_back(0.4 + std::ldexp(static_cast<double>(difference), -40) / 200);
    }
    long double mean = 0, second = 0, third = 0;
    for (const double x : bits) mean += x / shuffles;
    for (const double x : bits) {
        second += (x - mean) * (x - mean) / shuffles;
        third += (x - mean) * (x - mean) * (x - mean) / shuffles;
    }
    const SampledNull null = sampled_null(sums, 0, shuffles, 0.4, statistic);
    EXPECT_NEAR(null.mean, mean, unit);
    EXPECT_NEAR(null.variance, second, 1e-4 * second);
    EXPECT_NEAR(null.skewness, third / std::pow(second, 1.5L), 1e-4);
    EXPECT_NEAR(null.z, (0.4 - mean) / std::sqrt(second), 1e-4);
    const auto less_count =
        std::count_if(bits.begin(), bits.end(), [](double x) { return x < 0.4; });
    const auto more = std::count_if(bits.begin(), bits.end(), [](double x) { return x > 0.4; });
    EXPECT_EQ(null.percentile, static_cast<double>(less_count) / shuffles);
    EXPECT_EQ(null.p, (1.0 + (shuffles - less_count)) / (1.0 + shuffles));
    EXPECT_EQ(null.p_strict, (1.0 + more) / (1.0 + shuffles));
    EXPECT_GE(null.p, null.p_strict + 50.0 / 3000);

    // The maximum number of shuffles and the widest differences: one value in four high, three low.
    const std::int64_t count = kMaxShuffles - kMaxShuffles % 4, wide = (std::int64_t{1} << 20) - 1;
    sums.first[1] = count / 4 * wide - count / 4 * 3 * wide;
    sums.second[1] = count * wide * wide;
    const std::int64_t cube = wide * wide * wide;
    sums.third_low[1] = count / 4 * (cube & 0xffffffff) + count / 4 * 3 * (-cube & 0xffffffff);
    sums.third_high[1] = count / 4 * (cube >> 32) + count / 4 * 3 * (-cube >> 32);
    const SampledNull widest = sampled_null(sums, 1, count, 1.0, statistic);
    EXPECT_NEAR(widest.skewness, 2 / std::sqrt(3.0), 1e-12);  // (1 - 2p) / sqrt(p (1 - p))
    EXPECT_NEAR(widest.variance, 0.75 * wide * wide * unit * unit, 1e-9 * widest.variance);
    EXPECT_NEAR(widest.z, 1 / std::sqrt(3.0), 1e-12);
}

TEST(SampledNull, HasNoZWithoutVariance) {
    const Statistic statistic = make_statistic(30);
    NullSums sums(1);
    for (int shuffle = 0; shuffle < 10; ++shuffle)
        test::add_difference(sums, 0, 0, statistic.shift);
    const SampledNull null = sampled_null(sums, 0, 10, 0.25, statistic);
    EXPECT_EQ(null.mean, 0.25);
    EXPECT_EQ(null.variance, 0);
    EXPECT_TRUE(std::isnan(null.z) && std::isnan(null.skewness));
    EXPECT_EQ(null.percentile, 0);
    EXPECT_EQ(null.p, 1);
    EXPECT_EQ(null.p_strict, 1.0 / 11);
}

/// Sheppard's correction would make the variance of two atoms wrong by 1/12 unit^2.
TEST(SampledNull, HasTheVarianceOfTwoValues) {
    const Statistic statistic = make_statistic(30);
    const std::int64_t step = std::int64_t{1} << statistic.shift;
    NullSums sums(1);
    for (int shuffle = 0; shuffle < 100; ++shuffle)
        test::add_difference(sums, 0, shuffle % 4 == 0 ? step : 0, statistic.shift);
    const double unit = statistic.moment_unit() / 30;
    EXPECT_NEAR(sampled_null(sums, 0, 100, 0.1, statistic).variance, 3.0 / 16 * unit * unit,
                1e-12 * unit * unit);
}

TEST(FalseDiscoveryRate, FollowsItsDefinitionWithTiesAndNaN) {
    const double missing = std::nan("");
    const std::vector<double> p{0.01, 0.04, missing, 0.03, 0.005, 0.04, 0.8, missing, 0.02};
    const auto rate = false_discovery_rate(p);
    for (std::size_t item = 0; item < p.size(); ++item) {
        if (std::isnan(p[item])) {
            EXPECT_TRUE(std::isnan(rate[item]));
            continue;
        }
        double min_rate = 1;  // m p_k / (number of p <= p_k), over the p_k at or above this one
        for (const double other : p) {
            const auto count_up_to_other =
                std::count_if(p.begin(), p.end(), [&](double x) { return x <= other; });
            if (other >= p[item])
                min_rate = std::min(min_rate, 7 * other / static_cast<double>(count_up_to_other));
        }
        EXPECT_NEAR(rate[item], min_rate, 1e-15) << item;
    }
    EXPECT_EQ(rate[1], rate[5]);
    EXPECT_TRUE(false_discovery_rate({}).empty());
    EXPECT_EQ(false_discovery_rate(std::vector{0.9, 1.0})[0], 1);
}

TEST(FamilyWiseP, CountsShufflesWithALargerMaximum) {
    const Statistic statistic = make_statistic(100);
    const std::vector<double> mi{0.5, 0.2, 0.3}, mean{0.2, 0.1, 0.3}, variance{0.01, 0.04, 0};
    const ZScale standard = make_z_scale(mi, mean, variance, statistic);
    EXPECT_EQ(standard.z_factor[2], 0);
    const double z = (0 - standard.z_centre[0]) * standard.z_factor[0];
    EXPECT_NEAR(z, 3, 1e-12);
    EXPECT_NEAR((0 - standard.z_centre[1]) * standard.z_factor[1], 0.5, 1e-12);
    // One of the shuffles ties with the first item.
    const auto p = family_wise_p(standard, std::vector{1.0, z, 4.0, 2.0});
    EXPECT_EQ(p[0], 3.0 / 5);
    EXPECT_EQ(p[1], 1);
    EXPECT_TRUE(std::isnan(p[2]));
}

/// A shuffle of another pair with the same margins has the very MI of this one, up to the rounding
/// of d.
TEST(FamilyWiseP, CountsTiesWithPairsOfTheSameNull) {
    const Statistic statistic = make_statistic(100);
    const std::vector<double> mi{0.5}, mean{0.2}, variance{0.01};
    const ZScale standard = make_z_scale(mi, mean, variance, statistic);
    const double z = (0 - standard.z_centre[0]) * standard.z_factor[0], unit = standard.z_factor[0];
    EXPECT_EQ(family_wise_p(standard, std::vector{z - 0.5 * unit, z + 0.5 * unit, z - 2 * unit})[0],
              3.0 / 4);
}

/// Without moments: a pair that no shuffle reached is tested although its shuffles are all alike.
TEST(PairInformation, RateAPairAboveItsEqualShuffles) {
    const CodedColumns columns = test::columns_of({{0, 0, 0, 0, 0, 1}, {2, 2, 2, 2, 2, 3}});
    const Statistic statistic = make_statistic(6);
    const auto t = test::observe_pairs(columns, statistic);
    for (const std::int64_t difference : {-1'000'000'000, 0}) {
        NullSums sums(1);
        for (int shuffle = 0; shuffle < 9; ++shuffle)
            test::add_difference(sums, 0, difference, statistic.shift);
        const PairInformation pairs =
            pair_statistics({columns, statistic, t, {}, {}, &sums, 9, {}});
        if (difference == 0)
            EXPECT_TRUE(std::isnan(pairs.fdr[0]));
        else
            EXPECT_EQ(pairs.fdr[0], 0.1);
    }
}

/// Shuffles of a pair, counted as a kernel would, against one pair whose columns are alike.
TEST(PairInformation, RankAPlantedPairFirstAndIgnoreConstants) {
    std::mt19937_64 random(11);
    std::vector<test::Letters> letters;
    for (int column = 0; column < 4; ++column)
        letters.push_back(test::random_column(random, 80, 4, column % 2 == 0));
    letters.push_back(letters[1]);
    for (int row = 0; row < 20; ++row) letters[4][row] = static_cast<std::uint8_t>(random() % 4);
    letters.push_back(test::Letters(80, 3));
    const CodedColumns columns = test::columns_of(letters);
    const Statistic statistic = make_statistic(80);
    const auto t = test::observe_pairs(columns, statistic);
    const int shuffles = 400;
    NullSums sums(15);
    for (int shuffle = 0; shuffle < shuffles; ++shuffle) {
        std::vector<test::Letters> shuffled = letters;
        for (auto& column : shuffled) std::shuffle(column.begin(), column.end(), random);
        const auto now = test::observe_pairs(test::columns_of(shuffled), statistic);
        for (Index pair = 0; pair < 15; ++pair)
            test::add_difference(sums, pair, now[pair] - t[pair], statistic.shift);
    }
    std::vector<double> mean, variance;
    const PairInformation pairs =
        pair_statistics({columns, statistic, t, {}, {}, &sums, shuffles, {}});
    for (const SampledNull& null : pairs.sampled) {
        mean.push_back(null.mean + 1e-15);  // as moments of rounding would be
        variance.push_back(null.variance + 1e-17);
    }
    EXPECT_TRUE(pairs.z.empty() && pairs.family_p.empty());
    const std::vector<double> largest(shuffles, 2.5);
    const PairInformation both =
        pair_statistics({columns, statistic, t, mean, variance, &sums, shuffles, largest});
    const PairInformation exact =
        pair_statistics({columns, statistic, t, mean, variance, nullptr, 0, {}});
    const Index found = pair_index(1, 4, 6);
    for (Index pair = 0; pair < 15; ++pair) {
        for (const PairInformation* of : {&pairs, &both, &exact}) {
            if (pair == 4 || pair == 8 || pair == 11 || pair == 13 || pair == 14) {  // column 5
                EXPECT_EQ(of->mi[pair], 0);
                EXPECT_TRUE(std::isnan(of->tail_p[pair]) && std::isnan(of->fdr[pair]));
                if (!of->z.empty()) {
                    EXPECT_TRUE(std::isnan(of->z[pair]));
                    EXPECT_EQ(of->variance[pair], 0);
                }
                if (!of->sampled.empty()) {
                    EXPECT_EQ(of->equal_count[pair], shuffles);
                    EXPECT_EQ(of->sampled[pair].p, 1);
                }
                continue;
            }
            EXPECT_GE(of->fdr[pair], pair == found ? 0 : 0.005);
            EXPECT_LT(of->tail_p[found], of->tail_p[pair] + (pair == found));
        }
    }
    EXPECT_EQ(pairs.sampled[found].p, 1.0 / (1 + shuffles));
    EXPECT_LT(pairs.tail_p[found], 1e-6);  // far below what 400 shuffles can say
    EXPECT_NEAR(both.tail_p[found], pairs.tail_p[found], 1e-3 * pairs.tail_p[found]);
    EXPECT_NEAR(both.fdr[found], 10.0 / (1 + shuffles), 1e-12);  // of 10 tests, not of 15
    EXPECT_EQ(both.family_p[found], 1.0 / (1 + shuffles));
    EXPECT_TRUE(std::isnan(both.family_p[4]));
    EXPECT_NEAR(exact.fdr[found], 10 * exact.tail_p[found], 1e-12 * exact.fdr[found]);
}

/// Shuffles that never met the null's rare values leave the gamma tail; no moments, nothing at all.
TEST(PairInformation, UseTheGammaTailIfAllShufflesAreEqual) {
    const CodedColumns columns = test::columns_of({{0, 0, 0, 0, 0, 1}, {2, 2, 2, 2, 2, 3}});
    const Statistic statistic = make_statistic(6);
    const auto t = test::observe_pairs(columns, statistic);
    NullSums sums(1);
    for (int shuffle = 0; shuffle < 3; ++shuffle)
        test::add_difference(sums, 0, -1'000'000'000, statistic.shift);
    const std::vector<double> mean{0.1}, variance{0.02};
    const PairInformation pairs =
        pair_statistics({columns, statistic, t, mean, variance, &sums, 3, {}});
    EXPECT_EQ(pairs.tail_p[0], gamma_tail(pairs.mi[0], 0.1, 0.02));
    EXPECT_GT(pairs.tail_p[0], 0);
    const PairInformation sampled = pair_statistics({columns, statistic, t, {}, {}, &sums, 3, {}});
    EXPECT_TRUE(std::isnan(sampled.tail_p[0]));
    const PairInformation plain = pair_statistics({columns, statistic, t});
    EXPECT_TRUE(plain.tail_p.empty() && plain.fdr.empty() && plain.sampled.empty());
    EXPECT_EQ(plain.normalised[0], 1);
}

}  // namespace
}  // namespace pleat::mutual_information
