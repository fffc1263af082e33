// Tests of weighted pairs: plain counts, repeated rows, pseudocounts, shuffles, ranks, resuming.
#include "pleat/mutual_information/pairs/cpu_pairs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/core/tests/thread_comm.h"
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/kernel/shuffle.h"
#include "pleat/mutual_information/pairs/pair_run.h"
#include "pleat/mutual_information/tests/oracle_alignment.h"
#include "pleat/mutual_information/tests/plain_counts.h"
#include "pleat/mutual_information/tests/random_columns.h"
#include "pleat/mutual_information/tests/stop_after.h"

namespace pleat::mutual_information {
namespace {

Context threads(int count) {
    Context context;
    context.threads = count;
    context.seed = 77;
    return context;
}

TEST(WeightedPairs, AgreeWithTheOracleWithoutWeights) {
    const CodedColumns columns = test::oracle_columns("trna120x24");
    const auto expected = test::oracle_numbers("trna120x24", "MI2");
    const WeightedPairs found = weighted_pairs(columns, {}, threads(2));
    for (std::size_t pair = 0; pair < expected.size(); ++pair) {
        ASSERT_NEAR(found.mi[pair], expected[pair], 1e-12);
    }
}

/// A whole-number weight is a row that occurs so often; a common factor changes nothing.
TEST(WeightedPairs, CountARowAsOftenAsItsWeightSays) {
    std::mt19937_64 random(12);
    std::vector<test::Letters> once(5), repeated(5);
    std::vector<double> weights, scaled;
    for (int row = 0; row < 40; ++row) {
        const auto times = random() % 4;
        weights.push_back(static_cast<double>(times));
        scaled.push_back(static_cast<double>(times) * 0.37);
        for (int column = 0; column < 5; ++column) {
            once[column].push_back(static_cast<std::uint8_t>(random() % (column + 1)));
            repeated[column].insert(repeated[column].end(), times, once[column].back());
        }
    }
    const CodedColumns columns = test::columns_of(once);
    const WeightedPairs expected = weighted_pairs(test::columns_of(repeated), {}, threads(1));
    const WeightedPairs whole = weighted_pairs(columns, {weights}, threads(1));
    const WeightedPairs parts = weighted_pairs(columns, {scaled}, threads(1));
    for (std::size_t pair = 0; pair < 10; ++pair) {
        EXPECT_NEAR(whole.mi[pair], expected.mi[pair], 1e-13);
        EXPECT_NEAR(whole.joint_entropy[pair], expected.joint_entropy[pair], 1e-13);
        EXPECT_NEAR(parts.mi[pair], expected.mi[pair], 1e-13);
    }
}

/// The formula as it stands, over a full table of q x q letters.
double plain_weighted(const std::vector<test::Letters>& columns, const std::vector<double>& weights,
                      double lambda, int q) {
    std::vector<double> n(q * q, lambda), p_a(q), p_b(q);
    for (std::size_t row = 0; row < weights.size(); ++row)
        n[columns[0][row] * q + columns[1][row]] += weights[row];
    double total = 0, mi = 0;
    for (const double count : n) total += count;
    for (int a = 0; a < q; ++a)
        for (int b = 0; b < q; ++b) p_a[a] += n[a * q + b] / total, p_b[b] += n[a * q + b] / total;
    for (int a = 0; a < q; ++a) {
        for (int b = 0; b < q; ++b) {
            const double p = n[a * q + b] / total;
            if (p > 0) mi += p * std::log2(p / p_a[a] / p_b[b]);
        }
    }
    return mi;
}

TEST(WeightedPairs, AgreeWithTheFullTableOfPseudocounts) {
    std::mt19937_64 random(31);
    for (int repeat = 0; repeat < 50; ++repeat) {
        const std::vector<test::Letters> letters{test::random_column(random, 30, 4, repeat % 2),
                                                 test::random_column(random, 30, 6, repeat % 3)};
        std::vector<double> weights(30);
        for (double& weight : weights) weight = static_cast<double>(random() % 1000) / 1000;
        for (const double lambda : {0.0, 0.05, 2.0}) {
            const WeightedPairs found =
                weighted_pairs(test::columns_of(letters), {weights, lambda, 8}, threads(1));
            EXPECT_NEAR(found.mi[0], plain_weighted(letters, weights, lambda, 8), 1e-13);
        }
    }
    const CodedColumns conserved = test::columns_of({test::Letters(9, 1), test::Letters(9, 2)});
    EXPECT_EQ(weighted_pairs(conserved, {}, threads(1)).mi[0], 0);
    const WeightedPairs counted = weighted_pairs(conserved, {{}, 0.05, 20}, threads(1));
    EXPECT_GT(counted.mi[0], 0.01);  // one cell stands out of a table of lambdas
    const std::vector<double> none(9, 0.0);
    EXPECT_EQ(weighted_pairs(conserved, {none}, threads(1)).mi[0], 0);
}

TEST(WeightedPairs, AgreeWithTheKernelsShufflesWithoutWeights) {
    const CodedColumns columns = random_columns(61, 9, 5, 3);
    const Statistic statistic = make_statistic(61);
    const Context context = threads(2);
    const auto kernel = make_reference_kernel({&columns, &statistic, context.seed});
    Array<std::int64_t, 1> observed(36);
    kernel->observe_pairs(observed);
    NullSums sums(36);
    const std::int64_t shuffles = 150;
    kernel->sample_pairs({0, shuffles}, observed, sums, nullptr);
    const WeightedPairs pairs = weighted_pairs(columns, {.shuffles = shuffles}, context);
    const std::vector<double> tenths(61, 0.1);  // which add up differently in every order
    const WeightedPairs rounded =
        weighted_pairs(columns, {.weights = tenths, .shuffles = shuffles}, context);
    EXPECT_EQ(rounded.less_count, pairs.less_count);
    EXPECT_EQ(rounded.equal_count, pairs.equal_count);
    for (Index pair = 0; pair < 36; ++pair) {
        EXPECT_EQ(pairs.less_count[pair], sums.less_count[pair]);
        EXPECT_EQ(pairs.equal_count[pair], sums.equal_count[pair]);
        const SampledNull expected = sampled_null(sums, pair, shuffles, pairs.mi[pair], statistic);
        const SampledNull& found = pairs.sampled[pair];
        EXPECT_NEAR(found.mean, expected.mean, 1e-5);
        EXPECT_NEAR(found.variance, expected.variance, 1e-4 * expected.variance + 1e-12);
        EXPECT_EQ(found.p, expected.p);
        EXPECT_EQ(found.p_strict, expected.p_strict);
        EXPECT_EQ(found.percentile, expected.percentile);
        EXPECT_EQ(std::isnan(found.z), std::isnan(expected.z));
        if (std::isnan(found.z)) continue;
        EXPECT_NEAR(found.z, expected.z, 1e-2);
        EXPECT_NEAR(found.skewness, expected.skewness, 1e-2);
    }
}

/// Weights stay with their rows: with all weight on two rows, MI is 1 bit where both columns differ
/// there, else 0.
TEST(WeightedPairs, KeepWeightsWithTheirRowsInShuffles) {
    std::vector<double> weights(12, 0.0);
    weights[4] = weights[9] = 0.5;
    std::vector<test::Letters> letters(2, test::Letters(12, 0));
    for (int row = 0; row < 6; ++row) letters[0][row] = letters[1][row + 2] = 1;
    const CodedColumns columns = test::columns_of(letters);
    const WeightedPairs pairs =
        weighted_pairs(columns, {.weights = weights, .shuffles = 300}, threads(1));
    EXPECT_NEAR(pairs.mi[0], 1, 1e-15);
    std::uint32_t equal_count = 0;
    for (std::uint32_t shuffle = 0; shuffle < 300; ++shuffle) {
        test::Letters a(12), b(12);
        shuffle_column(columns.margin(0), 77, shuffle, 0, a);
        shuffle_column(columns.margin(1), 77, shuffle, 1, b);
        equal_count += a[4] != a[9] && b[4] != b[9];
    }
    EXPECT_EQ(pairs.equal_count[0], equal_count);
    EXPECT_EQ(pairs.less_count[0], 300 - equal_count);
    EXPECT_NEAR(pairs.sampled[0].mean, equal_count / 300.0, 1e-12);
    EXPECT_NEAR(equal_count, 300 * 36 / 121.0, 40);
}

/// 40 columns, so that there are several tiles; columns 2 and 35 share most of their letters.
struct Planted {
    static constexpr Index kColumns = 40, kFirst = 2, kSecond = 35;

    Planted() {
        std::mt19937_64 random(14);
        std::vector<test::Letters> letters;
        for (int column = 0; column < kColumns; ++column)
            letters.push_back(test::random_column(random, 100, 3 + column % 5, column % 2));
        for (int row = 0; row < 80; ++row) letters[kSecond][row] = letters[kFirst][row] % 4;
        for (int row = 0; row < 100; ++row)
            weights.push_back(1 / static_cast<double>(1 + random() % 5));
        columns = test::columns_of(letters);
    }
    WeightedOptions options() const {
        return {.weights = weights, .pseudocount = 0.05, .shuffles = 100};
    }

    std::vector<double> weights;
    CodedColumns columns;
};

/// The same bits in all numbers.
void expect_same(const WeightedPairs& found, const WeightedPairs& expected) {
    EXPECT_EQ(found.mi, expected.mi);
    EXPECT_EQ(found.joint_entropy, expected.joint_entropy);
    EXPECT_EQ(found.less_count, expected.less_count);
    EXPECT_EQ(found.equal_count, expected.equal_count);
    ASSERT_EQ(found.sampled.size(), expected.sampled.size());
    for (std::size_t pair = 0; pair < found.sampled.size(); ++pair) {
        EXPECT_EQ(found.sampled[pair].mean, expected.sampled[pair].mean);
        EXPECT_EQ(found.sampled[pair].variance, expected.sampled[pair].variance);
        EXPECT_EQ(found.sampled[pair].skewness, expected.sampled[pair].skewness);
    }
}

TEST(WeightedPairs, RankAPlantedPairFirst) {
    const Planted planted;
    const WeightedPairs pairs = weighted_pairs(planted.columns, planted.options(), threads(1));
    const Index best = pair_index(Planted::kFirst, Planted::kSecond, Planted::kColumns);
    for (Index pair = 0; pair < pair_count(Planted::kColumns); ++pair) {
        if (pair == best) continue;
        EXPECT_LT(pairs.sampled[pair].z, pairs.sampled[best].z);
        EXPECT_LT(std::abs(pairs.sampled[pair].z), 6);  // its null has the bias of its rows
    }
}

TEST(WeightedPairs, AreTheSameOnAnyThreadsAndRanks) {
    const Planted planted;
    const WeightedPairs expected = weighted_pairs(planted.columns, planted.options(), threads(1));
    expect_same(weighted_pairs(planted.columns, planted.options(), threads(3)), expected);
    for (const int ranks : {2, 3}) {
        pleat::test::on_ranks(ranks, [&](Comm& comm) {
            Context context = threads(1);
            context.comm = &comm;
            expect_same(weighted_pairs(planted.columns, planted.options(), context), expected);
        });
    }
}

TEST(WeightedPairs, ResumeWithTheSameNumbersAfterACancel) {
    const Planted planted;
    const WeightedPairs expected = weighted_pairs(planted.columns, planted.options(), threads(2));
    const pleat::test::TemporaryFolder folder;
    test::StopAfter stop("weighted pairs", 1);
    Context context = threads(2);
    context.checkpoint = folder / "checkpoint.npz";
    context.progress = &stop;
    EXPECT_THROW(weighted_pairs(planted.columns, planted.options(), context, "problem"), Cancelled);
    test::FirstCount first("weighted pairs");
    context.progress = &first;
    expect_same(weighted_pairs(planted.columns, planted.options(), context, "problem"), expected);
    EXPECT_EQ(first.done, 1);  // of three tiles, one was kept
    EXPECT_THROW(weighted_pairs(planted.columns, planted.options(), context, "another"),
                 InputError);
}

TEST(WeightedPairs, RefuseImpossibleOptions) {
    const CodedColumns columns = random_columns(10, 3, 3, 1);
    const std::vector<double> short_weights(9, 1.0);
    std::vector<double> negative(10, 1.0);
    negative[3] = -1;
    EXPECT_THROW(weighted_pairs(columns, {short_weights}, threads(1)), UsageError);
    EXPECT_THROW(weighted_pairs(columns, {negative}, threads(1)), UsageError);
    EXPECT_THROW(weighted_pairs(columns, {{}, -0.1}, threads(1)), UsageError);
    EXPECT_THROW(weighted_pairs(columns, {{}, 0.1, 1}, threads(1)), UsageError);
    EXPECT_THROW(weighted_pairs(columns, {.shuffles = -1}, threads(1)), UsageError);
}

}  // namespace
}  // namespace pleat::mutual_information
