// The oracle's alignments: that they are read as the numbers beside them were made.
#include "pleat/mutual_information/tests/oracle_alignment.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pleat::mutual_information {

namespace {

double mutual_information(const Columns& columns, Index i, Index j) {
    const Index rows = columns.row_count();
    std::vector<Index> table(columns.symbol_count(i) * columns.symbol_count(j));
    for (Index row = 0; row < rows; ++row)
        ++table[columns.codes(i, row) * columns.symbol_count(j) + columns.codes(j, row)];
    return entropy(columns.margin(i), rows) + entropy(columns.margin(j), rows) -
           entropy(table, rows);
}

class OracleAlignment : public testing::TestWithParam<const char*> {};

TEST_P(OracleAlignment, HasTheMutualInformationOfTheOracle) {
    if (!test::oracle_is_present(GetParam())) GTEST_SKIP() << "no oracle " << GetParam();
    const Columns columns = test::oracle_columns(GetParam());
    const auto expected = test::oracle_numbers(GetParam(), "MI2");
    ASSERT_EQ(static_cast<Index>(expected.size()), pair_count(columns.column_count()));
    Index pair = 0;
    for (Index i = 0; i < columns.column_count(); ++i) {
        for (Index j = i + 1; j < columns.column_count(); ++j, ++pair) {
            ASSERT_EQ(pair, pair_index(i, j, columns.column_count()));
            ASSERT_NEAR(mutual_information(columns, i, j), expected[pair], 1e-10) << i << " " << j;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, OracleAlignment,
                         testing::Values("small24x8", "rna60x20", "mid120x30", "ribo140x71",
                                         "trna140x71", "hivp_xray_unique", "calm753x264"));

}  // namespace

}  // namespace pleat::mutual_information
