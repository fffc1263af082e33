// Tests of the interactions: planted triples, chains, models of pairs, degenerate columns.
#include "pleat/mutual_information/triples/interactions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "pleat/core/error.h"
#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/tests/oracle_alignment.h"
#include "pleat/mutual_information/tests/plain_counts.h"

namespace pleat::mutual_information {
namespace {

/// MI of the three pairs and of the triple 0, 1, 2.
std::array<double, 4> informations(const CodedColumns& columns) {
    const Statistic statistic = make_statistic(columns.row_count());
    const auto t = margin_sums(columns, statistic);
    const auto mi = pair_information(columns, statistic, test::observe_pairs(columns, statistic));
    const auto triples = test::observe_triples(columns, statistic);
    const Index last = columns.column_count();
    return {mi[0], mi[1], mi[pair_index(1, 2, last)],
            triple_information(statistic, t[0], t[1], t[2], triples[0])};
}

Interaction interaction_of(const CodedColumns& columns) {
    const auto mi = informations(columns);
    return pairwise_interaction(mi[0], mi[1], mi[2], mi[3]);
}

/// The excess of single triples.
class ExcessFit {
public:
    explicit ExcessFit(const CodedColumns& columns, const ExcessOptions& options = {})
        : columns_(columns), options_(options) {}
    Excess operator()(Index i, Index j, Index k) const {
        const std::array<Index, 3> triple = {i, j, k};
        Excess excess;
        third_order_excess(columns_, std::span(&triple, 1), std::span(&excess, 1), {}, options_);
        return excess;
    }

private:
    const CodedColumns& columns_;
    ExcessOptions options_;
};

/// Rows that hold every combination of three columns as often as `weight` says.
template <class Weight>
CodedColumns every_combination(int q_i, int q_j, int q_k, Weight weight) {
    std::vector<test::Letters> columns(3);
    for (int a = 0; a < q_i; ++a) {
        for (int b = 0; b < q_j; ++b) {
            for (int c = 0; c < q_k; ++c) {
                for (int row = 0; row < weight(a, b, c); ++row) {
                    columns[0].push_back(static_cast<std::uint8_t>(a));
                    columns[1].push_back(static_cast<std::uint8_t>(b));
                    columns[2].push_back(static_cast<std::uint8_t>(c));
                }
            }
        }
    }
    return test::columns_of(columns);
}

TEST(Interaction, IsMinusOneBitForAnExclusiveOr) {
    const CodedColumns columns =
        every_combination(2, 2, 2, [](int a, int b, int c) { return (a ^ b) == c ? 25 : 0; });
    const auto mi = informations(columns);
    EXPECT_EQ(mi[0], 0);
    EXPECT_EQ(mi[1], 0);
    EXPECT_EQ(mi[2], 0);
    const Interaction found = interaction_of(columns);
    EXPECT_NEAR(found.co_information, -1, 1e-12);
    EXPECT_NEAR(found.ij_with_k, 1, 1e-12);
    EXPECT_NEAR(found.ik_with_j, 1, 1e-12);
    EXPECT_NEAR(found.jk_with_i, 1, 1e-12);
    const Excess excess = ExcessFit(columns)(0, 1, 2);
    EXPECT_TRUE(excess.converged);
    EXPECT_NEAR(excess.bits, 1, 1e-9);
}

TEST(Interaction, IsTheEntropyOfThreeCopiesWithoutExcess) {
    const CodedColumns columns =
        every_combination(3, 3, 3, [](int a, int b, int c) { return a == b && b == c ? 9 : 0; });
    EXPECT_NEAR(interaction_of(columns).co_information, std::log2(3), 1e-11);
    EXPECT_NEAR(interaction_of(columns).ij_with_k, std::log2(3), 1e-11);
    EXPECT_EQ(ExcessFit(columns)(0, 1, 2).bits, 0);
    EXPECT_EQ(ExcessFit(columns)(0, 1, 2).rounds, 0);  // the pairs leave nothing open
}

TEST(Excess, IsZeroForIndependentColumnsAndChains) {
    const int u[] = {5, 2, 1, 1}, v[] = {3, 2, 2}, w[] = {4, 1, 3};
    const CodedColumns independent =
        every_combination(4, 3, 3, [&](int a, int b, int c) { return u[a] * v[b] * w[c]; });
    const Excess none = ExcessFit(independent)(0, 1, 2);
    EXPECT_NEAR(none.bits, 0, 1e-12);
    EXPECT_TRUE(none.converged);
    EXPECT_NEAR(interaction_of(independent).co_information, 0, 1e-11);

    // i - j - k: p(a, b, c) = f(a, b) g(b, c), with zeros among f and g.
    const int f[3][3] = {{4, 0, 1}, {1, 6, 0}, {2, 2, 3}},
              g[3][3] = {{2, 1, 0}, {1, 5, 1}, {0, 3, 2}};
    const CodedColumns chain =
        every_combination(3, 3, 3, [&](int a, int b, int c) { return f[a][b] * g[b][c]; });
    EXPECT_GT(informations(chain)[1], 0.01);
    EXPECT_NEAR(ExcessFit(chain)(0, 1, 2).bits, 0, 1e-12);
    EXPECT_GT(interaction_of(chain).co_information, 0.01);

    // All three pairs interact and nothing else: p = f(a, b) g(b, c) h(a, c).
    const int h[3][3] = {{1, 2, 3}, {4, 1, 1}, {1, 1, 5}};
    const CodedColumns pairs = every_combination(
        3, 3, 3, [&](int a, int b, int c) { return f[a][b] * g[b][c] * h[a][c]; });
    EXPECT_NEAR(ExcessFit(pairs)(0, 1, 2).bits, 0, 1e-12);
}

/// Two symbols each: the tables of pairs leave one number open, p = observed + delta (-1)^(a+b+c),
/// so the largest entropy is found by bisection and the excess follows without any fitting.
TEST(Excess, AgreesWithBisectionForTwoSymbols) {
    std::mt19937_64 random(23);
    for (int repeat = 0; repeat < 200; ++repeat) {
        double rows[8];
        for (double& count : rows) count = 1 + static_cast<double>(random() % 12);
        const auto sign = [](int cell) { return ((cell >> 2) ^ (cell >> 1) ^ cell) & 1 ? -1 : 1; };
        double low = -1e9, high = 1e9;
        for (int cell = 0; cell < 8; ++cell) {
            if (sign(cell) > 0) low = std::max(low, -rows[cell]);
            if (sign(cell) < 0) high = std::min(high, rows[cell]);
        }
        for (int step = 0; step < 200; ++step) {
            const double delta = (low + high) / 2;
            double slope = 0;  // of the entropy
            for (int cell = 0; cell < 8; ++cell)
                slope -= sign(cell) * std::log(rows[cell] + sign(cell) * delta);
            (slope > 0 ? low : high) = delta;
        }
        const double total = std::accumulate(rows, rows + 8, 0.0);
        double expected = 0;
        for (int cell = 0; cell < 8; ++cell)
            expected +=
                rows[cell] / total * std::log2(rows[cell] / (rows[cell] + sign(cell) * low));
        const CodedColumns columns = every_combination(2, 2, 2, [&](int a, int b, int c) {
            return static_cast<int>(rows[a * 4 + b * 2 + c]);
        });
        const Excess excess = ExcessFit(columns)(0, 1, 2);
        EXPECT_TRUE(excess.converged);
        EXPECT_NEAR(excess.bits, expected, 1e-10);
    }
}

TEST(Excess, DoesNotDependOnTheOrderOfColumnsOrOfRows) {
    std::mt19937_64 random(2);
    for (int repeat = 0; repeat < 40; ++repeat) {
        std::vector<test::Letters> letters;
        for (int column = 0; column < 3; ++column)
            letters.push_back(
                test::random_column(random, 60, 2 + static_cast<int>(random() % 4), repeat % 2));
        for (std::size_t row = 0; row < 60; ++row)
            if (random() % 2) letters[2][row] = letters[0][row] % 3;
        const CodedColumns columns = test::columns_of(letters);
        ExcessFit fit(columns);
        const Excess first = fit(0, 1, 2);
        const double slack = first.converged ? 1e-9 : 2e-4;
        for (const auto& [i, j, k] :
             {std::array<Index, 3>{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}})
            EXPECT_NEAR(fit(i, j, k).bits, first.bits, slack) << repeat;
        const auto mi = informations(columns);
        EXPECT_LE(first.bits, mi[3] - std::max({mi[0], mi[1], mi[2]}) + slack);
    }
}

TEST(Excess, IsZeroAndNeverNaNForDegenerateColumns) {
    std::mt19937_64 random(9);
    test::Letters own(20);
    std::iota(own.begin(), own.end(), std::uint8_t{0});
    const CodedColumns columns = test::columns_of(
        {test::Letters(20, 7), own, test::random_column(random, 20, 3), test::Letters(20, 1), own});
    ExcessFit fit(columns);
    for (Index i = 0; i < 5; ++i) {
        for (Index j = i + 1; j < 5; ++j) {
            for (Index k = j + 1; k < 5; ++k) {
                EXPECT_EQ(fit(i, j, k).bits, 0) << i << j << k;
                EXPECT_TRUE(fit(i, j, k).converged);
            }
        }
    }
}

/// A table whose fit runs towards zeros that no line shows: it ends, says so, and errs upwards.
TEST(Excess, ReportsAnEarlyEnd) {
    const CodedColumns columns = every_combination(2, 2, 2, [](int a, int b, int c) {
        const int cell = a * 4 + b * 2 + c;
        return cell == 1 || cell == 6 ? 0 : 3;  // of opposite sign: delta can only be 0
    });
    Excess before{2, 0, 0, true};
    for (const int rounds : {1, 10, 100, 1000}) {
        const Excess excess = ExcessFit(columns, {1e-7, rounds})(0, 1, 2);
        EXPECT_FALSE(excess.converged);
        EXPECT_EQ(excess.rounds, rounds);
        EXPECT_GT(excess.margin_error, 1e-7);
        EXPECT_GE(excess.bits, 0);  // the truth: the pairs allow nothing but what was observed
        EXPECT_LT(excess.bits, before.bits);
        before = excess;
    }
    EXPECT_LT(before.bits, 2e-3);
}

TEST(Excess, RanksPlantedExclusiveOrsFirstOnAnyThreads) {
    Array<std::uint8_t, 2> letters = test::oracle_letters("trna120x24");
    const Index rows = letters.extent(0);
    std::mt19937_64 random(4);
    for (Index row = 0; row < rows; ++row) {
        const auto x = static_cast<std::uint8_t>(random() % 2),
                   y = static_cast<std::uint8_t>(random() % 2);
        letters(row, 3) = x;
        letters(row, 10) = y;
        letters(row, 20) = x ^ y;
    }
    const CodedColumns columns = compact_columns(letters);
    std::vector<std::array<Index, 3>> triples;
    for (Index i = 0; i < 24; ++i)
        for (Index j = i + 1; j < 24; ++j)
            for (Index k = j + 1; k < 24; ++k)
                if ((i + j + k) % 7 == 4 || (i == 3 && j == 10 && k == 20))
                    triples.push_back({i, j, k});
    std::vector<Excess> one(triples.size()), three(triples.size());
    Context context;
    context.threads = 1;
    third_order_excess(columns, triples, one, context, {1e-7, 100});
    context.threads = 3;
    third_order_excess(columns, triples, three, context, {1e-7, 100});
    std::size_t best = 0;
    for (std::size_t at = 0; at < triples.size(); ++at) {
        EXPECT_EQ(one[at].bits, three[at].bits);
        if (one[at].bits > one[best].bits) best = at;
    }
    EXPECT_EQ(triples[best], (std::array<Index, 3>{3, 10, 20}));
    EXPECT_NEAR(one[best].bits, 1, 0.1);
    const Statistic statistic = make_statistic(rows);
    const auto mi = pair_information(columns, statistic, test::observe_pairs(columns, statistic));
    const auto better = std::count_if(
        mi.begin(), mi.end(), [&](double value) { return value > mi[pair_index(3, 10, 24)]; });
    EXPECT_GT(better, 50);  // by its pairs it is nowhere
}

}  // namespace
}  // namespace pleat::mutual_information
