// Tests of pairs without gaps: the rows left, their MI, and moments against all permutations.
#include "pleat/mutual_information/count/gaps_omitted.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pleat/mutual_information/count/weighted.h"
#include "pleat/mutual_information/tests/oracle_alignment.h"
#include "pleat/mutual_information/tests/plain_counts.h"

namespace pleat::mutual_information {
namespace {

constexpr std::uint8_t kGap = 9;

Context one_thread() {
    Context context;
    context.threads = 1;
    return context;
}

TEST(PairRows, KeepRowsWithoutTheLettersAndCloseUpTheCodes) {
    const Columns columns = test::columns_of({{4, 4, 4, kGap, 2, 1, 1}, {3, kGap, 5, 5, 5, 3, 3}});
    PairRows rows;
    rows.take(columns, 0, 1, letter_set(kGap));
    EXPECT_EQ(rows.row, (std::vector<Index>{0, 2, 4, 5, 6}));
    EXPECT_EQ(rows.margin_i, (std::vector<Index>{2, 2, 1}));  // 4, 1, 2
    EXPECT_EQ(rows.margin_j, (std::vector<Index>{3, 2}));     // 3, 5
    EXPECT_EQ(rows.code_i, (std::vector<std::uint8_t>{0, 0, 2, 1, 1}));
    EXPECT_EQ(rows.code_j, (std::vector<std::uint8_t>{0, 1, 1, 0, 0}));
    rows.take(columns, 0, 1, letter_set(4) | letter_set(3) | letter_set(kGap));
    EXPECT_EQ(rows.row, (std::vector<Index>{4}));  // a symbol whose rows are all gone has no code
    EXPECT_EQ(rows.margin_i, (std::vector<Index>{1}));
    EXPECT_EQ(rows.code_i, (std::vector<std::uint8_t>{0}));
}

TEST(PairsWithout, HasTheMomentsOfAllPermutationsOfTheRowsLeft) {
    std::mt19937_64 random(5);
    for (int repeat = 0; repeat < 8; ++repeat) {
        std::vector<test::Letters> letters{test::random_column(random, 9, 3),
                                           test::random_column(random, 9, 4)};
        letters[0][1] = letters[1][4] = kGap;
        const Columns columns = test::columns_of(letters);
        const OmittedPairs found =
            pairs_without(columns, make_statistic(9), letter_set(kGap), one_thread());
        std::vector<test::Letters> kept(2);
        for (int row = 0; row < 9; ++row) {
            if (row == 1 || row == 4) continue;
            for (int column = 0; column < 2; ++column) kept[column].push_back(letters[column][row]);
        }
        ASSERT_EQ(found.rows[0], 7);
        EXPECT_NEAR(found.mi[0], weighted_pairs(test::columns_of(kept), {}, one_thread()).mi[0],
                    1e-11);
        std::sort(kept[1].begin(), kept[1].end());
        double count = 0, mean = 0, square = 0;
        do {
            const double mi = weighted_pairs(test::columns_of(kept), {}, one_thread()).mi[0];
            ++count;
            mean += mi;
            square += mi * mi;
        } while (std::next_permutation(kept[1].begin(), kept[1].end()));
        mean /= count;
        EXPECT_NEAR(found.mean[0], mean, 1e-11);
        EXPECT_NEAR(found.variance[0], square / count - mean * mean, 1e-11);
    }
}

TEST(PairsWithout, IsPlainWhereNothingIsOmittedAndZeroWhereNothingIsLeft) {
    std::mt19937_64 random(2);
    const Columns columns =
        test::columns_of({test::random_column(random, 30, 4), test::random_column(random, 30, 5),
                          test::Letters(30, kGap), test::Letters(30, 1)});
    const Statistic statistic = make_statistic(30);
    const OmittedPairs plain = pairs_without(columns, statistic, 0, one_thread());
    const WeightedPairs expected = weighted_pairs(columns, {}, one_thread());
    for (std::size_t pair = 0; pair < 6; ++pair) {
        EXPECT_EQ(plain.rows[pair], 30);
        EXPECT_NEAR(plain.mi[pair], expected.mi[pair], 1e-11);
        EXPECT_NEAR(plain.joint_entropy[pair], expected.joint_entropy[pair], 1e-11);
    }
    EXPECT_GT(plain.mean[0], 0);
    const OmittedPairs omitted = pairs_without(columns, statistic, letter_set(kGap), one_thread());
    for (const Index pair : {pair_index(0, 2, 4), pair_index(1, 2, 4), pair_index(2, 3, 4)}) {
        EXPECT_EQ(omitted.rows[pair], 0);
        EXPECT_EQ(omitted.mi[pair], 0);
        EXPECT_EQ(omitted.variance[pair], 0);
    }
    EXPECT_EQ(omitted.mi[pair_index(0, 3, 4)], 0);
    EXPECT_EQ(omitted.mean[pair_index(0, 3, 4)], 0);
}

/// The sampled null of the same rows runs to the exact moments.
TEST(PairsWithout, AgreesWithItsSampledNull) {
    if (!test::oracle_is_present("rna60x20")) GTEST_SKIP() << "no oracle rna60x20";
    const Columns columns = test::oracle_columns("rna60x20");
    const LetterSet gap = letter_set(0);
    const OmittedPairs exact = pairs_without(columns, make_statistic(60), gap, one_thread());
    const std::int64_t shuffles = 2000;
    const WeightedNull null =
        weighted_null(columns, {{}, 0, 22, gap}, exact.mi, shuffles, one_thread());
    Index fewer = 0;
    for (std::size_t pair = 0; pair < exact.mi.size(); ++pair) {
        fewer += exact.rows[pair] < 60;
        const double error = std::sqrt(exact.variance[pair] / shuffles);
        EXPECT_NEAR(null.sampled[pair].mean, exact.mean[pair], 5 * error + 1e-12) << pair;
        EXPECT_NEAR(null.sampled[pair].variance, exact.variance[pair],
                    0.4 * exact.variance[pair] + 1e-12);
    }
    EXPECT_GT(fewer, 10);
}

}  // namespace
}  // namespace pleat::mutual_information
