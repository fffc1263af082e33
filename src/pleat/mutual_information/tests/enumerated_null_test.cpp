// Tests of the enumerated null: against all permutations of short columns, and the
// moments.
#include "pleat/mutual_information/exact/tail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "pleat/mutual_information/exact/pair_moments.h"
#include "pleat/mutual_information/tests/oracle_alignment.h"

namespace pleat::mutual_information {

namespace {

using Margin = std::vector<Index>;

Margin random_margin(Index rows, std::mt19937& random) {
    Margin margin;
    for (Index left = rows; left > 0; left -= margin.back())
        margin.push_back(std::uniform_int_distribution<Index>(1, left)(random));
    std::shuffle(margin.begin(), margin.end(), random);
    return margin;
}

std::vector<int> column_of(const Margin& margin) {
    std::vector<int> column;
    for (std::size_t symbol = 0; symbol < margin.size(); ++symbol)
        column.insert(column.end(), margin[symbol], static_cast<int>(symbol));
    return column;
}

TEST(NullEnumerator, AgreesWithAllPermutations) {
    std::mt19937 random(2);
    for (int trial = 0; trial < 200; ++trial) {
        const Index rows = 2 + trial % 7;
        const Statistic statistic = make_statistic(rows);
        const Margin margin_i = random_margin(rows, random), margin_j = random_margin(rows, random);
        const auto i = column_of(margin_i);
        auto j = column_of(margin_j);
        std::map<std::int64_t, double> counted;
        double all = 0;
        do {
            Margin table(margin_i.size() * margin_j.size());
            for (Index row = 0; row < rows; ++row) ++table[i[row] * margin_j.size() + j[row]];
            std::int64_t t = 0;
            for (const Index count : table) t += statistic.f[count];
            ++counted[t];
            ++all;
        } while (std::next_permutation(j.begin(), j.end()));
        const auto null = NullEnumerator(statistic).null(margin_i, margin_j);
        ASSERT_TRUE(null.has_value());
        ASSERT_EQ(null->atoms.size(), counted.size()) << "trial " << trial;
        for (const auto& atom : null->atoms) {
            ASSERT_TRUE(counted.contains(atom.t));
            ASSERT_NEAR(atom.probability, counted[atom.t] / all, 1e-14);
        }
    }
}

// Mean and variance of MI over the atoms of a null.
Moments moments_of(const EnumeratedNull& null, std::span<const Index> i, std::span<const Index> j,
                   const Statistic& statistic) {
    const auto rows = static_cast<double>(statistic.rows());
    const double base =
        entropy(i, statistic.rows()) + entropy(j, statistic.rows()) - std::log2(rows);
    Moments moments;
    const auto information = [&](const EnumeratedNull::Atom& atom) {
        return base + statistic.bits(atom.t) / rows;
    };
    for (const auto& atom : null.atoms) moments.mean += atom.probability * information(atom);
    for (const auto& atom : null.atoms)
        moments.variance += atom.probability * std::pow(information(atom) - moments.mean, 2);
    return moments;
}

TEST(EnumeratedNull, HasTheExactMoments) {
    std::mt19937 random(8);
    int enumerated = 0;
    for (int trial = 0; trial < 60; ++trial) {
        const Index rows = 10 + trial;
        const Statistic statistic = make_statistic(rows);
        const Margin i = random_margin(rows, random), j = random_margin(rows, random);
        const auto null = NullEnumerator(statistic).null(i, j);
        if (!null) continue;
        ++enumerated;
        const Moments found = moments_of(*null, i, j, statistic), expected = pair_moments(i, j);
        ASSERT_NEAR(found.mean, expected.mean, 2e-12);
        ASSERT_NEAR(found.variance, expected.variance, 1e-12);
    }
    EXPECT_GT(enumerated, 20);
}

TEST(EnumeratedNull, HasTheExactMomentsOfARealFamily) {
    const CodedColumns columns = test::oracle_columns("trna60x20");
    const Statistic statistic = make_statistic(columns.row_count());
    const NullEnumerator nulls(statistic);
    const Index pairs = pair_count(columns.column_count());
    Array<double, 1> mean(pairs), variance(pairs);
    pair_moments(columns, mean, variance, {});
    Index pair = 0;
    int enumerated = 0;
    for (Index i = 0; i < columns.column_count(); ++i) {
        for (Index j = i + 1; j < columns.column_count(); ++j, ++pair) {
            const auto null = nulls.null(columns.margin(i), columns.margin(j), 3000);
            if (!null) continue;
            ++enumerated;
            const Moments found =
                moments_of(*null, columns.margin(i), columns.margin(j), statistic);
            ASSERT_NEAR(found.mean, mean(pair), 2e-12) << i << " " << j;
            ASSERT_NEAR(found.variance, variance(pair), 1e-12) << i << " " << j;
        }
    }
    EXPECT_GT(enumerated, 30);
}

TEST(NullEnumerator, GivesAConstantColumnOneValue) {
    const Statistic statistic = make_statistic(9);
    const auto null = NullEnumerator(statistic).null(Margin{9}, Margin{4, 3, 2});
    ASSERT_TRUE(null.has_value());
    EXPECT_EQ(null->atoms.size(), 1u);
    const TailProbabilities tail = null->tail(statistic.f[4] + statistic.f[3] + statistic.f[2]);
    EXPECT_EQ(tail.p_less, 0);
    EXPECT_NEAR(tail.p_equal, 1, 1e-14);
    EXPECT_EQ(tail.p_greater, 0);
}

TEST(NullEnumerator, RefusesTooMuchWork) {
    const Statistic statistic = make_statistic(753);
    const NullEnumerator nulls(statistic);
    const Margin margin{200, 180, 120, 100, 80, 40, 33}, conserved{750, 1, 1, 1};
    EXPECT_FALSE(nulls.null(margin, margin).has_value());
    EXPECT_TRUE(nulls.null(Margin{400, 353}, conserved).has_value());
    EXPECT_FALSE(nulls.null(Margin{400, 353}, conserved, 2).has_value());
}

}  // namespace

}  // namespace pleat::mutual_information
