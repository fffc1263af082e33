// Moments of pairs: against all permutations of short columns, and quadruple precision.
#include "pleat/mutual_information/exact/pair_moments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/mutual_information/exact/hahn.h"

namespace pleat::mutual_information {

namespace {

using Margin = std::vector<Index>;

Margin random_margin(Index rows, std::mt19937& random) {
    Margin margin;
    for (Index left = rows; left > 0; left -= margin.back())
        margin.push_back(std::uniform_int_distribution<Index>(1, left)(random));
    std::sort(margin.rbegin(), margin.rend());
    return margin;
}

std::vector<int> column_of(const Margin& margin) {
    std::vector<int> column;
    for (std::size_t symbol = 0; symbol < margin.size(); ++symbol)
        column.insert(column.end(), margin[symbol], static_cast<int>(symbol));
    return column;
}

// Every arrangement of column j beside column i, equally likely.
Moments by_all_permutations(const Margin& margin_i, const Margin& margin_j) {
    const auto i = column_of(margin_i);
    auto j = column_of(margin_j);
    const auto rows = static_cast<Index>(i.size());
    std::vector<double> values;
    do {
        Margin table(margin_i.size() * margin_j.size());
        for (Index row = 0; row < rows; ++row) ++table[i[row] * margin_j.size() + j[row]];
        values.push_back(entropy(margin_i, rows) + entropy(margin_j, rows) - entropy(table, rows));
    } while (std::next_permutation(j.begin(), j.end()));
    Moments moments;
    for (const double value : values) moments.mean += value / static_cast<double>(values.size());
    for (const double value : values)
        moments.variance +=
            (value - moments.mean) * (value - moments.mean) / static_cast<double>(values.size());
    return moments;
}

using Long = long double;

Long law(Index all, Index marked, Index drawn, Index x) {
    const auto lf = [](Index n) { return std::lgamma(static_cast<Long>(n) + 1); };
    const auto choose = [&](Index n, Index k) { return lf(n) - lf(k) - lf(n - k); };
    if (x < std::max(Index{0}, marked + drawn - all) || x > std::min(marked, drawn)) return 0;
    return std::exp(choose(marked, x) + choose(all - marked, drawn - x) - choose(all, drawn));
}

// Var T as the sum of all covariances of two cells, by conditioning: given the counts x and z of
// two cells of a row, the rest of the second one's column is spread over the other rows.
double variance_by_covariances(const Margin& i, const Margin& j) {
    const Index rows = std::accumulate(i.begin(), i.end(), Index{0});
    const auto term = [&](Index x, Index a, Index b) {
        const Long e = static_cast<Long>(i[a] * j[b]) / static_cast<Long>(rows);
        const auto n = static_cast<Long>(x);
        return ((x == 0 ? 0 : n * std::log(n / e)) - n + e) / std::log(2.0L);
    };
    const Index letters_i = static_cast<Index>(i.size()), letters_j = static_cast<Index>(j.size());
    Long variance = 0;
    std::vector<Long> mean(letters_i * letters_j);
    for (Index a = 0; a < letters_i; ++a)
        for (Index b = 0; b < letters_j; ++b)
            for (Index x = 0; x <= j[b]; ++x)
                mean[a * letters_j + b] += law(rows, i[a], j[b], x) * term(x, a, b);
    for (Index a = 0; a < letters_i; ++a) {
        // Centred sum over the other rows of column d's letter when y of its rows are not in a.
        const auto others = [&](Index d, Index y) {
            Long sum = 0;
            for (Index other = 0; other < letters_i; ++other) {
                if (other == a) continue;
                sum -= mean[other * letters_j + d];
                for (Index x = 0; x <= y; ++x)
                    sum += law(rows - i[a], i[other], y, x) * term(x, other, d);
            }
            return sum;
        };
        std::vector<std::vector<Long>> rest(letters_j);
        for (Index d = 0; d < letters_j; ++d)
            for (Index y = 0; y <= std::min(j[d], rows - i[a]); ++y)
                rest[d].push_back(others(d, y));
        for (Index b = 0; b < letters_j; ++b) {
            for (Index x = std::max(Index{0}, i[a] + j[b] - rows); x <= std::min(i[a], j[b]); ++x) {
                const Long own = term(x, a, b) - mean[a * letters_j + b];
                Long sum = own + rest[b][j[b] - x];
                for (Index d = 0; d < letters_j; ++d) {
                    for (Index z = 0; z <= std::min(i[a] - x, j[d]) && d != b; ++z) {
                        const Long p = law(rows - j[b], i[a] - x, j[d], z);
                        if (p > 0)
                            sum +=
                                p * (term(z, a, d) - mean[a * letters_j + d] + rest[d][j[d] - z]);
                    }
                }
                variance += law(rows, i[a], j[b], x) * own * sum;
            }
        }
    }
    return static_cast<double>(variance) / static_cast<double>(rows * rows);
}

TEST(Moments, AgreeWithAllPermutations) {
    std::mt19937 random(5);
    for (int trial = 0; trial < 300; ++trial) {
        const Index rows = 2 + trial % 7;
        const Margin i = random_margin(rows, random), j = random_margin(rows, random);
        const Moments expected = by_all_permutations(i, j), found = pair_moments(i, j);
        ASSERT_NEAR(found.mean, expected.mean, 1e-13) << "trial " << trial;
        ASSERT_NEAR(found.variance, expected.variance, 1e-13) << "trial " << trial;
        ASSERT_GE(found.variance, 0);
    }
}

TEST(Moments, AgreeWithTheSumOfCovariances) {
    std::mt19937 random(11);
    for (int trial = 0; trial < 40; ++trial) {
        const Index rows = 4 + 3 * trial;
        const Margin i = random_margin(rows, random), j = random_margin(rows, random);
        const double expected = variance_by_covariances(i, j);
        ASSERT_NEAR(pair_moments(i, j).variance, expected, 1e-12 * expected + 1e-18) << trial;
    }
}

// Small variances by enumeration of all tables in 113-bit arithmetic; those of many symbols by
// summing the covariances of cells in 64-bit arithmetic.
TEST(Moments, HaveManyRightDigits) {
    struct Case {
        Margin i, j;
        double variance;
    };
    const Case cases[] = {{{377, 376}, {751, 1, 1}, 1.9473576896860192e-11},
                          {{70, 70}, {138, 1, 1}, 5.5762567728130388e-09},
                          {{71, 1, 1, 1}, {38, 36}, 1.0524011868919337e-06},
                          {{281, 114, 104, 97, 85, 37, 10, 10, 7, 4, 2, 1, 1},
                           {152, 129, 128, 119, 96, 95, 11, 8, 6, 6, 3},
                           0.0001290401084199297},
                          {{293, 100, 85, 76, 61, 54, 26, 23, 21, 6, 3, 2, 1, 1, 1},
                           {512, 87, 46, 34, 21, 20, 18, 11, 3, 1},
                           0.00013739166502859665}};
    for (const Case& each : cases) {
        EXPECT_NEAR(pair_moments(each.i, each.j).variance, each.variance, 1e-12 * each.variance);
        EXPECT_NEAR(pair_moments(each.j, each.i).variance, each.variance, 1e-12 * each.variance);
    }
}

TEST(Moments, AreZeroOnlyIfAllPermutationsAreEqual) {
    const Margin whole{12}, halves{6, 6}, thirds{4, 4, 4}, one_other{11, 1}, distinct(12, 1);
    for (const Margin& margin : {whole, halves, thirds, one_other, distinct}) {
        EXPECT_EQ(pair_moments(whole, margin).mean, 0);
        EXPECT_EQ(pair_moments(margin, whole).variance, 0);
        EXPECT_EQ(pair_moments(distinct, margin).variance, 0);
        EXPECT_NEAR(pair_moments(distinct, margin).mean, entropy(margin, 12), 1e-14);
    }
    for (const Margin& margin : {halves, thirds}) {
        EXPECT_EQ(pair_moments(one_other, margin).variance, 0);
        EXPECT_GT(pair_moments(one_other, margin).mean, 0);
    }
    EXPECT_GT(pair_moments(halves, thirds).variance, 0);
}

TEST(Moments, DoNotDependOnOrder) {
    std::mt19937 random(7);
    for (int trial = 0; trial < 200; ++trial) {
        const Index rows = 2 + trial * 3;
        Margin i = random_margin(rows, random), j = random_margin(rows, random);
        const Moments first = pair_moments(i, j), swapped = pair_moments(j, i);
        std::shuffle(i.begin(), i.end(), random);
        const Moments shuffled = pair_moments(i, j);
        for (const Moments& other : {swapped, shuffled}) {
            ASSERT_NEAR(first.mean, other.mean, 1e-13 * first.mean);
            ASSERT_NEAR(first.variance, other.variance, 1e-11 * first.variance);
        }
        ASSERT_TRUE(std::isfinite(first.mean) && std::isfinite(first.variance));
        ASSERT_GE(first.variance, 0);
    }
}

// Two symbols beside two: one hypergeometric count, summed directly.
TEST(Moments, AreRightForLongTwoSymbolColumns) {
    for (const auto& [rows, r, c] : {std::tuple<Index, Index, Index>{50000, 25000, 20000},
                                     {50000, 300, 1200},
                                     {50000, 49000, 45000},
                                     {4000, 700, 3}}) {
        ProbabilityWindow law;
        hypergeometric(rows, r, c, 1e-30, 0, law);
        std::vector<double> value;
        const auto term = [n = static_cast<double>(rows)](Index cell, Index a, Index b) {
            const auto x = static_cast<long double>(cell);
            const long double e = static_cast<long double>(a) * static_cast<long double>(b) / n;
            return cell == 0 ? e : x * std::log(x / e) - x + e;
        };
        long double mean = 0, variance = 0;
        const auto t = [&](Index x) {
            return (term(x, r, c) + term(r - x, r, rows - c) + term(c - x, rows - r, c) +
                    term(rows - r - c + x, rows - r, rows - c)) /
                   (static_cast<long double>(rows) * std::log(2.0L));
        };
        for (Index at = 0; at < law.size(); ++at) mean += law.probability[at] * t(law.first + at);
        for (Index at = 0; at < law.size(); ++at)
            variance +=
                law.probability[at] * (t(law.first + at) - mean) * (t(law.first + at) - mean);
        const Moments found = pair_moments(Margin{rows - r, r}, Margin{rows - c, c});
        EXPECT_NEAR(found.mean, static_cast<double>(mean), 1e-11 * static_cast<double>(mean));
        EXPECT_NEAR(found.variance, static_cast<double>(variance),
                    1e-10 * static_cast<double>(variance));
    }
}

TEST(Moments, HaveTheSameBitsForAnyThreads) {
    std::mt19937 random(3);
    Array<std::uint8_t, 2> letters(90, 40);
    for (auto& letter : letters)
        letter = static_cast<std::uint8_t>(random() % 8 % (1 + random() % 7));
    const CodedColumns columns = compact_columns(letters);
    const Index pairs = pair_count(40);
    Array<double, 2> mean(3, pairs), variance(3, pairs);
    for (int threads = 1; threads <= 3; ++threads) {
        Context context;
        context.threads = threads;
        pair_moments(columns, mean[threads - 1], variance[threads - 1], context);
    }
    for (Index pair = 0; pair < pairs; ++pair) {
        ASSERT_GT(mean(0, pair), 0);
        for (int other = 1; other < 3; ++other) {
            ASSERT_EQ(mean(0, pair), mean(other, pair));
            ASSERT_EQ(variance(0, pair), variance(other, pair));
        }
    }
}

struct StoppedAfter final : Progress {
    int left;
    explicit StoppedAfter(int polls) : left(polls) {}
    void update(std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view) override {
        EXPECT_EQ(stage, "exact");
        EXPECT_LE(done, total);
        latest = done;
        whole = total;
    }
    bool cancelled() override { return left-- <= 0; }
    void message(std::string_view) override {}
    std::int64_t latest = -1, whole = 0;
};

TEST(Moments, CanBeCancelledAndReportProgress) {
    Array<std::uint8_t, 2> letters(30, 12);
    for (Index at = 0; at < letters.size(); ++at)
        letters.data()[at] = static_cast<std::uint8_t>(at * at % (at % 5 + 2));
    const CodedColumns columns = compact_columns(letters);
    Array<double, 1> mean(pair_count(12)), variance(pair_count(12));
    for (const int polls : {0, 1, 1000}) {
        StoppedAfter progress(polls);
        Context context;
        context.threads = 1;
        context.progress = &progress;
        if (polls < 1000) {
            EXPECT_THROW(pair_moments(columns, mean, variance, context), Cancelled);
        } else {
            pair_moments(columns, mean, variance, context);
            EXPECT_EQ(progress.latest, progress.whole);
        }
    }
}

}  // namespace

}  // namespace pleat::mutual_information
