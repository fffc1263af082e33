// Tests of gap-free pairs: the rows left, their MI and moments, ranks and resuming.
#include "pleat/mutual_information/pairs/cpu_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/core/tests/thread_comm.h"
#include "pleat/mutual_information/tests/oracle_alignment.h"
#include "pleat/mutual_information/tests/plain_counts.h"
#include "pleat/mutual_information/tests/stop_after.h"

namespace pleat::mutual_information {
namespace {

constexpr std::uint8_t kGap = 9;

Context one_thread() {
    Context context;
    context.threads = 1;
    return context;
}

TEST(PairRows, LeaveOmittedLettersOutAndRenumberTheCodes) {
    const CodedColumns columns =
        test::columns_of({{4, 4, 4, kGap, 2, 1, 1}, {3, kGap, 5, 5, 5, 3, 3}});
    PairRows rows;
    rows.select_rows(columns, 0, 1, letter_set(kGap));
    EXPECT_EQ(rows.row, (std::vector<Index>{0, 2, 4, 5, 6}));
    EXPECT_EQ(rows.margin_i, (std::vector<Index>{2, 2, 1}));  // 4, 1, 2
    EXPECT_EQ(rows.margin_j, (std::vector<Index>{3, 2}));     // 3, 5
    EXPECT_EQ(rows.code_i, (std::vector<std::uint8_t>{0, 0, 2, 1, 1}));
    EXPECT_EQ(rows.code_j, (std::vector<std::uint8_t>{0, 1, 1, 0, 0}));
    rows.select_rows(columns, 0, 1, letter_set(4) | letter_set(3) | letter_set(kGap));
    EXPECT_EQ(rows.row, (std::vector<Index>{4}));  // a symbol whose rows are all gone has no code
    EXPECT_EQ(rows.margin_i, (std::vector<Index>{1}));
    EXPECT_EQ(rows.code_i, (std::vector<std::uint8_t>{0}));
}

TEST(GapFreePairs, HaveTheMomentsOfAllPermutationsOfTheirRows) {
    std::mt19937_64 random(5);
    for (int repeat = 0; repeat < 8; ++repeat) {
        std::vector<test::Letters> letters{test::random_column(random, 9, 3),
                                           test::random_column(random, 9, 4)};
        letters[0][1] = letters[1][4] = kGap;
        const CodedColumns columns = test::columns_of(letters);
        const GapFreePairs found =
            gap_free_pairs(columns, make_statistic(9), letter_set(kGap), one_thread());
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

TEST(GapFreePairs, AreAllRowsIfNothingIsOmittedAndZeroIfNoRowIsLeft) {
    std::mt19937_64 random(2);
    const CodedColumns columns =
        test::columns_of({test::random_column(random, 30, 4), test::random_column(random, 30, 5),
                          test::Letters(30, kGap), test::Letters(30, 1)});
    const Statistic statistic = make_statistic(30);
    const GapFreePairs plain = gap_free_pairs(columns, statistic, 0, one_thread());
    const WeightedPairs expected = weighted_pairs(columns, {}, one_thread());
    for (std::size_t pair = 0; pair < 6; ++pair) {
        EXPECT_EQ(plain.rows[pair], 30);
        EXPECT_NEAR(plain.mi[pair], expected.mi[pair], 1e-11);
        EXPECT_NEAR(plain.joint_entropy[pair], expected.joint_entropy[pair], 1e-11);
    }
    EXPECT_GT(plain.mean[0], 0);
    const GapFreePairs omitted = gap_free_pairs(columns, statistic, letter_set(kGap), one_thread());
    for (const Index pair : {pair_index(0, 2, 4), pair_index(1, 2, 4), pair_index(2, 3, 4)}) {
        EXPECT_EQ(omitted.rows[pair], 0);
        EXPECT_EQ(omitted.mi[pair], 0);
        EXPECT_EQ(omitted.variance[pair], 0);
    }
    EXPECT_EQ(omitted.mi[pair_index(0, 3, 4)], 0);
    EXPECT_EQ(omitted.mean[pair_index(0, 3, 4)], 0);
}

/// Many shuffles of the same rows approach the exact moments.
TEST(GapFreePairs, AgreeWithShufflesOfTheirRows) {
    const CodedColumns columns = test::oracle_columns("trna60x20");
    const LetterSet gap = letter_set(0);
    const GapFreePairs exact = gap_free_pairs(columns, make_statistic(60), gap, one_thread());
    const std::int64_t shuffles = 2000;
    Index fewer = 0;
    for (Index i = 0; i < columns.column_count(); ++i) {
        for (Index j = i + 1; j < columns.column_count(); ++j) {
            PairRows rows;
            rows.select_rows(columns, i, j, gap);
            const WeightedPairs sampled = weighted_pairs(
                test::columns_of({rows.code_i, rows.code_j}), {.shuffles = shuffles}, one_thread());
            const Index pair = pair_index(i, j, columns.column_count());
            fewer += exact.rows[pair] < 60;
            EXPECT_EQ(exact.rows[pair], rows.count());
            const double error = std::sqrt(exact.variance[pair] / shuffles);
            EXPECT_NEAR(sampled.sampled[0].mean, exact.mean[pair], 5 * error + 1e-12) << pair;
            EXPECT_NEAR(sampled.sampled[0].variance, exact.variance[pair],
                        0.4 * exact.variance[pair] + 1e-12);
        }
    }
    EXPECT_GT(fewer, 10);
}

/// 40 columns, so that there are several tiles, with gaps.
CodedColumns gapped_columns() {
    std::mt19937_64 random(3);
    std::vector<test::Letters> letters;
    for (int column = 0; column < 40; ++column) {
        letters.push_back(test::random_column(random, 20, 4));
        for (std::uint8_t& letter : letters.back())
            if (random() % 8 == 0) letter = kGap;
    }
    return test::columns_of(letters);
}

void expect_same(const GapFreePairs& found, const GapFreePairs& expected) {
    EXPECT_EQ(found.rows, expected.rows);
    EXPECT_EQ(found.mi, expected.mi);
    EXPECT_EQ(found.joint_entropy, expected.joint_entropy);
    EXPECT_EQ(found.mean, expected.mean);
    EXPECT_EQ(found.variance, expected.variance);
}

TEST(GapFreePairs, AreTheSameOnAnyThreadsAndRanks) {
    const CodedColumns columns = gapped_columns();
    const Statistic statistic = make_statistic(20);
    const LetterSet gap = letter_set(kGap);
    const GapFreePairs expected = gap_free_pairs(columns, statistic, gap, one_thread());
    Context three_threads = one_thread();
    three_threads.threads = 3;
    expect_same(gap_free_pairs(columns, statistic, gap, three_threads), expected);
    for (const int ranks : {2, 3}) {
        pleat::test::on_ranks(ranks, [&](Comm& comm) {
            Context context = one_thread();
            context.comm = &comm;
            expect_same(gap_free_pairs(columns, statistic, gap, context), expected);
        });
    }
}

TEST(GapFreePairs, ResumeWithTheSameNumbersAfterACancel) {
    const CodedColumns columns = gapped_columns();
    const Statistic statistic = make_statistic(20);
    const LetterSet gap = letter_set(kGap);
    const GapFreePairs expected = gap_free_pairs(columns, statistic, gap, one_thread());
    const pleat::test::TemporaryFolder folder;
    Context context = one_thread();
    context.checkpoint = folder / "checkpoint.npz";
    test::StopAfter stop("gaps omitted", 1, 3);  // within the second tile
    context.progress = &stop;
    EXPECT_THROW(gap_free_pairs(columns, statistic, gap, context, "problem"), Cancelled);
    test::FirstCount first("gaps omitted");
    context.progress = &first;
    expect_same(gap_free_pairs(columns, statistic, gap, context, "problem"), expected);
    EXPECT_EQ(first.done, 1);
}

}  // namespace
}  // namespace pleat::mutual_information
