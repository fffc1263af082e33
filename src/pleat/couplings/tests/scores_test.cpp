// Tests of the scores: plain formulas, hand-made cases, and the oracle's own pairs of matrices.
#include "pleat/couplings/contacts/scores.h"

#include <gtest/gtest.h>

#include "pleat/couplings/tests/oracle.h"
#include "pleat/couplings/tests/random_family.h"

namespace pleat::couplings {
namespace {

TEST(FrobeniusScores, AreTheNormsOfCentredBlocksWithoutTheGap) {
    for (const int letters : {5, 21}) {
        const Model model = test::random_model(7, letters, 0.4, 3);
        const Array<double, 2> scores = frobenius_scores(model, 1);
        ASSERT_EQ(scores.extent(0), 7);
        for (Index i = 0; i < 7; ++i) {
            EXPECT_EQ(scores(i, i), 0);
            for (Index j = i + 1; j < 7; ++j) {
                const auto block = model.pairs[pair_index(i, j, 7)];
                double mean = 0, sum2 = 0;
                for (int a = 0; a < letters; ++a) {
                    for (int b = 0; b < letters; ++b)
                        mean += block(a, b) / (1.0 * letters * letters);
                }
                for (int a = 0; a + 1 < letters; ++a) {
                    for (int b = 0; b + 1 < letters; ++b) sum2 += std::pow(block(a, b) - mean, 2);
                }
                EXPECT_NEAR(scores(i, j), std::sqrt(sum2), 1e-12 * scores(i, j));
                EXPECT_EQ(scores(j, i), scores(i, j));
            }
        }
        const Array<double, 2> threaded = frobenius_scores(model, 3);
        EXPECT_EQ(test::largest_difference(threaded, scores), 0);
    }
}

TEST(FrobeniusScores, IgnoreAConstantAndCountTheGapInTheMeanOnly) {
    Model model{Array<float, 2>(2, 5), Array<float, 3>(1, 5, 5)};
    model.pairs.fill(0.7f);
    EXPECT_NEAR(frobenius_scores(model, 1)(0, 1), 0, 1e-6);
    // One entry at a gap moves the mean by 25/25 = 1, so 16 entries of -1 are left: norm 4.
    model.pairs.fill(0);
    model.pairs(0, 4, 2) = 25;
    EXPECT_NEAR(frobenius_scores(model, 1)(0, 1), 4, 1e-12);
}

TEST(ZeroSumNorm, IsTheNormOverAllLettersInTheZeroSumGauge) {
    const Model model = test::random_model(3, 5, 0.4, 9);
    Model shifted = model;
    for (Index pair = 0; pair < 3; ++pair) {
        double mean = 0, rows[5] = {}, columns[5] = {}, sum2 = 0;
        for (int a = 0; a < 5; ++a) {
            for (int b = 0; b < 5; ++b) {
                const double value = model.pairs(pair, a, b);
                mean += value / 25;
                rows[a] += value / 5;
                columns[b] += value / 5;
                shifted.pairs(pair, a, b) += static_cast<float>(a) - 0.5f * static_cast<float>(b);
            }
        }
        for (int a = 0; a < 5; ++a)
            for (int b = 0; b < 5; ++b)
                sum2 += std::pow(model.pairs(pair, a, b) - rows[a] - columns[b] + mean, 2);
        EXPECT_NEAR(zero_sum_norm(model.pairs[pair]), std::sqrt(sum2), 1e-12);
        EXPECT_NEAR(zero_sum_norm(shifted.pairs[pair]), std::sqrt(sum2), 1e-5);
    }
    const Array<double, 2> scores = frobenius_scores(model, 2, NormLetters::all);
    EXPECT_EQ(scores(0, 2), zero_sum_norm(model.pairs[pair_index(0, 2, 3)]));
    EXPECT_EQ(scores(2, 0), scores(0, 2));
}

TEST(PairIndex, CountsPairsInRowOrder) {
    for (const Index columns : {2, 3, 10}) {
        Index next = 0;
        for (Index i = 0; i < columns; ++i) {
            for (Index j = i + 1; j < columns; ++j) EXPECT_EQ(pair_index(i, j, columns), next++);
        }
        EXPECT_EQ(next, columns * (columns - 1) / 2);
    }
}

TEST(AverageProductCorrection, FollowsItsFormula) {
    const Array<double, 2> raw = frobenius_scores(test::random_model(9, 21, 0.3, 5), 1);
    const Array<double, 2> corrected = average_product_correction(raw);
    EXPECT_EQ(test::largest_difference(average_product_correction(raw, 4), corrected), 0);
    std::vector<double> mean(9, 0.0);
    double all = 0, min_score = 1e300;
    for (Index i = 0; i < 9; ++i) {
        for (Index j = 0; j < 9; ++j) {
            mean[i] += raw(i, j) / 9;
            all += raw(i, j) / 81;
        }
    }
    for (Index i = 0; i < 9; ++i) {
        for (Index j = 0; j < i; ++j)
            min_score = std::min(min_score, raw(i, j) - mean[i] * mean[j] / all);
    }
    for (Index i = 0; i < 9; ++i) {
        EXPECT_EQ(corrected(i, i), 0);
        for (Index j = 0; j < 9; ++j) {
            if (i == j) continue;
            EXPECT_NEAR(corrected(i, j), raw(i, j) - mean[i] * mean[j] / all - min_score, 1e-12);
            EXPECT_EQ(corrected(i, j), corrected(j, i));
            EXPECT_GE(corrected(i, j), 0);
        }
    }
}

TEST(AverageProductCorrection, HandlesSmallAndEmptyMatrices) {
    Array<double, 2> two(2, 2);
    two(0, 1) = two(1, 0) = 3;
    const Array<double, 2> one_pair = average_product_correction(two);
    for (const double value : one_pair) EXPECT_EQ(value, 0);  // the only pair has the lowest score
    const Array<double, 2> zero = average_product_correction(Array<double, 2>(4, 4));
    for (const double value : zero) EXPECT_EQ(value, 0);
    EXPECT_EQ(zero.extent(0), 4);
}

}  // namespace
}  // namespace pleat::couplings
