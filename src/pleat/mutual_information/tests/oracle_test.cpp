// Mutual information and its exact null against reference answers: those of data/oracles always,
// larger ones of ../shared if they are present.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/exact/pair_moments.h"
#include "pleat/mutual_information/exact/tail.h"
#include "pleat/mutual_information/exact/triple_moments.h"
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/pairs/pair_run.h"
#include "pleat/mutual_information/tests/oracle_alignment.h"
#include "pleat/mutual_information/tests/plain_counts.h"

namespace pleat::mutual_information {
namespace {

Context one_thread() {
    Context context;
    context.threads = 1;
    return context;
}

/// From the tables of counts, without the statistic that kernels sum.
double information_of_table(const CodedColumns& columns, Index i, Index j) {
    const Index rows = columns.row_count();
    std::vector<Index> table(columns.symbol_count(i) * columns.symbol_count(j));
    for (Index row = 0; row < rows; ++row)
        ++table[columns.codes(i, row) * columns.symbol_count(j) + columns.codes(j, row)];
    return entropy(columns.margin(i), rows) + entropy(columns.margin(j), rows) -
           entropy(table, rows);
}

void expect_pair_information(const std::string& name) {
    const CodedColumns columns = test::oracle_columns(name);
    const Statistic statistic = make_statistic(columns.row_count());
    const auto expected = test::oracle_numbers(name, "MI2");
    const auto mi = pair_information(columns, statistic, test::observe_pairs(columns, statistic));
    ASSERT_EQ(mi.size(), expected.size());
    std::size_t pair = 0;
    for (Index i = 0; i < columns.column_count(); ++i) {
        for (Index j = i + 1; j < columns.column_count(); ++j, ++pair) {
            ASSERT_NEAR(mi[pair], expected[pair], 1e-10) << i << " " << j;
            ASSERT_NEAR(information_of_table(columns, i, j), expected[pair], 1e-10)
                << i << " " << j;
        }
    }
}

void expect_triple_information(const std::string& name) {
    const CodedColumns columns = test::oracle_columns(name);
    const Statistic statistic = make_statistic(columns.row_count());
    const auto expected = test::oracle_numbers(name, "MI3");
    const auto margin = margin_sums(columns, statistic);
    const auto t = test::observe_triples(columns, statistic);
    ASSERT_EQ(t.size(), expected.size());
    std::size_t triple = 0;
    for (Index i = 0; i < columns.column_count(); ++i)
        for (Index j = i + 1; j < columns.column_count(); ++j)
            for (Index k = j + 1; k < columns.column_count(); ++k, ++triple)
                ASSERT_NEAR(
                    triple_information(statistic, margin[i], margin[j], margin[k], t[triple]),
                    expected[triple], 1e-10);
}

/// The variances of ../shared are differences of float64 sums: they carry an absolute error of up
/// to 2e-14 bits^2, and at 753 rows a relative one of 1e-7.
void expect_pair_moments(const std::string& name) {
    const CodedColumns columns = test::oracle_columns(name);
    const Index pairs = pair_count(columns.column_count());
    Array<double, 1> mean(pairs), variance(pairs);
    pair_moments(columns, mean, variance, one_thread());
    const auto expected_mean = test::oracle_numbers(name, "E2");
    const auto expected_variance = test::oracle_numbers(name, "V2");
    const bool is_committed = test::is_committed(name);
    const double relative = is_committed ? 1e-12 : columns.row_count() > 700 ? 2e-7 : 1e-9;
    const double absolute = is_committed ? 1e-16 : 2e-14;
    Index pair = 0, constant = 0;
    for (Index i = 0; i < columns.column_count(); ++i) {
        for (Index j = i + 1; j < columns.column_count(); ++j, ++pair) {
            ASSERT_NEAR(mean(pair), expected_mean[pair], 1e-9 * expected_mean[pair] + 3e-15)
                << i << " " << j;
            ASSERT_NEAR(variance(pair), expected_variance[pair],
                        relative * expected_variance[pair] + absolute)
                << i << " " << j;
            if (columns.symbol_count(i) > 1 && columns.symbol_count(j) > 1) continue;
            ASSERT_EQ(mean(pair), 0);
            ASSERT_EQ(variance(pair), 0);
            ++constant;
        }
    }
    EXPECT_LT(constant, pairs);
}

/// The variances of ../shared carry absolute errors of up to 1e-11 bits^2.
void expect_triple_moments(const std::string& name) {
    const CodedColumns columns = test::oracle_columns(name);
    const Block whole{0, columns.column_count()};
    const TripleTile tile = triple_tile({whole, whole, whole});
    Array<double, 1> mean(tile.count), variance(tile.count), mean_alone(tile.count);
    TripleMoments(columns, one_thread(), true).moments(tile, mean, variance);
    TripleMoments(columns, one_thread(), false).mean(tile, mean_alone);
    const auto expected_mean = test::oracle_numbers(name, "E3");
    const auto expected_variance = test::oracle_numbers(name, "V3");
    const double absolute = test::is_committed(name) ? 1e-15 : 1e-11;
    ASSERT_EQ(static_cast<Index>(expected_mean.size()), tile.count);
    for (Index at = 0; at < tile.count; ++at) {
        ASSERT_NEAR(mean(at), expected_mean[at], 1e-9 * expected_mean[at] + 1e-14) << at;
        ASSERT_NEAR(variance(at), expected_variance[at], 1e-9 * expected_variance[at] + absolute)
            << at;
        ASSERT_EQ(mean(at), mean_alone(at)) << at;
    }
}

std::int64_t observed(const CodedColumns& columns, Index i, Index j, const Statistic& statistic) {
    return test::count(statistic, {test::codes_of(columns, i), test::codes_of(columns, j)});
}

void expect_enumerated_tails(const std::string& name) {
    const CodedColumns columns = test::oracle_columns(name);
    const Statistic statistic = make_statistic(columns.row_count());
    const NullEnumerator nulls(statistic);
    const auto pairs = test::enumerated_pairs(name);
    ASSERT_FALSE(pairs.empty());
    for (const test::EnumeratedPair& pair : pairs) {
        const auto null = nulls.null(columns.margin(pair.i), columns.margin(pair.j), 1e9);
        ASSERT_TRUE(null.has_value());
        const TailProbabilities tail = null->tail(observed(columns, pair.i, pair.j, statistic));
        ASSERT_NEAR(tail.p_less, pair.p_less, 1e-9) << pair.i << " " << pair.j;
        ASSERT_NEAR(tail.p_equal, pair.p_equal, 1e-9) << pair.i << " " << pair.j;
        ASSERT_NEAR(tail.p_greater, pair.p_greater, 1e-9) << pair.i << " " << pair.j;
        ASSERT_NEAR(tail.p_less + tail.p_equal + tail.p_greater, 1, 1e-12);
    }
}

/// Shuffles, and the tail fitted to their skewness: within half a decade of p down to 1e-3 for
/// nulls of many values.
void expect_sampled_tails(const std::string& name) {
    const CodedColumns columns = test::oracle_columns(name);
    const Statistic statistic = make_statistic(columns.row_count());
    const auto mean = test::oracle_numbers(name, "E2"), variance = test::oracle_numbers(name, "V2");
    const auto kernel = make_reference_kernel({&columns, &statistic, 1});
    const auto pairs = static_cast<Index>(mean.size());
    Array<std::int64_t, 1> t(pairs);
    kernel->observe_pairs(t);
    NullSums sums(pairs);
    const std::int64_t shuffles = 2000;
    kernel->sample_pairs({0, shuffles}, t, sums, nullptr);
    const PairInformation found = pair_statistics(
        {columns, statistic, std::span(t.data(), t.size()), mean, variance, &sums, shuffles, {}});
    int compared = 0;
    double sum = 0;
    for (const test::EnumeratedPair& pair : test::enumerated_pairs(name)) {
        const double exact = pair.p_greater + pair.p_equal;
        const Index at = pair_index(pair.i, pair.j, columns.column_count());
        const SampledNull& sampled = found.sampled[at];
        EXPECT_NEAR(sampled.p, exact, 5 * std::sqrt(exact * (1 - exact) / 2000) + 0.001) << at;
        if (pair.atoms < 50 || exact < 1e-3) continue;
        const double decades = std::abs(std::log10(found.tail_p[at] / exact));
        EXPECT_LT(decades, 0.5) << at << " p " << exact;
        sum += decades;
        ++compared;
    }
    EXPECT_GE(compared, 10);
    EXPECT_LT(sum / compared, 0.1);
}

class CommittedOracle : public testing::TestWithParam<const char*> {};

TEST_P(CommittedOracle, HasTheInformationOfPairsAndTriples) {
    expect_pair_information(GetParam());
    expect_triple_information(GetParam());
}

TEST_P(CommittedOracle, HasTheExactMomentsOfPairs) { expect_pair_moments(GetParam()); }

TEST_P(CommittedOracle, HasTheExactMomentsOfTriples) { expect_triple_moments(GetParam()); }

TEST_P(CommittedOracle, HasTheEnumeratedTails) { expect_enumerated_tails(GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, CommittedOracle, testing::ValuesIn(test::kCommittedOracles),
                         [](const auto& name) { return std::string(name.param); });

TEST(CommittedRnaOracle, HasSampledTailsNearTheEnumeratedOnes) {
    expect_sampled_tails("trna60x20");
}

/// One test, so that its absence is one skipped test. The enumerated tails of hivp_xray_unique are
/// left out: they are those of 85 sequences, and the alignment beside them has 74.
TEST(SharedOracles, HaveTheInformationMomentsAndTailsOfTheLibrary) {
    if (!std::filesystem::exists(test::shared_oracles()))
        GTEST_SKIP() << "the larger oracles of " << test::shared_oracles() << " are absent";
    for (const std::string name : {"small24x8", "rna60x20", "mid120x30", "ribo140x71", "trna140x71",
                                   "hivp_xray_unique", "calm753x264"}) {
        SCOPED_TRACE(name);
        expect_pair_information(name);
        expect_pair_moments(name);
        if (name == "calm753x264") continue;
        expect_triple_moments(name);
    }
    for (const std::string name : {"small24x8", "rna60x20", "mid120x30"}) {
        SCOPED_TRACE(name);
        expect_triple_information(name);
        expect_enumerated_tails(name);
        expect_sampled_tails(name);
    }
}

}  // namespace
}  // namespace pleat::mutual_information
