// The statistic: F is n lg n, tables of equal products of n^n tie exactly, and sums do not
// overflow.
#include "pleat/mutual_information/count/statistic.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pleat/mutual_information/count/tiles.h"
#include "random_columns.h"

namespace pleat::mutual_information {
namespace {

TEST(Statistic, IsNLgN) {
    for (const Index rows : {1, 2, 753, 50000}) {
        const Statistic statistic = make_statistic(rows);
        ASSERT_EQ(statistic.rows(), rows);
        EXPECT_EQ(statistic.f[0], 0);
        EXPECT_EQ(statistic.f[1], 0);
        for (Index n = 2; n <= rows; n += 1 + n / 50) {
            const double exact = static_cast<double>(n) * std::log2(static_cast<double>(n));
            EXPECT_NEAR(statistic.bits(statistic.f[n]), exact,
                        static_cast<double>(n) * std::log2(n) * std::ldexp(1.0, -statistic.scale));
        }
    }
}

TEST(Statistic, TablesOfEqualProductsTie) {
    const Statistic statistic = make_statistic(100);
    const auto& f = statistic.f;
    // 4^4 = 2^2 2^2 2^2 2^2 and 6^6 6^6 = 2^2 ... are products of the same primes.
    EXPECT_EQ(f[4] - 4 * f[2], 0);
    EXPECT_EQ(3 * f[12], 6 * f[6] + 6 * 6 * (f[2] / 2));
    EXPECT_EQ(f[9], 6 * f[3]);
    EXPECT_NE(f[5] + f[3], f[4] + f[4]);
}

TEST(Statistic, MomentDifferencesFitTheirSums) {
    for (const Index rows : {1, 100, 100000, 2000000}) {
        const Statistic statistic = make_statistic(rows);
        const double widest = std::ldexp(10.0 * static_cast<double>(rows), statistic.scale);
        EXPECT_LE(widest / std::ldexp(1.0, statistic.shift), 1 << 20);
        EXPECT_LT(std::ldexp(static_cast<double>(rows) * std::log2(rows), statistic.scale),
                  std::ldexp(1.0, 62));
    }
    EXPECT_EQ(moment_difference(5, 0), 5);
    EXPECT_EQ(moment_difference(6, 2), 2);
    EXPECT_EQ(moment_difference(-6, 2), -1);
    EXPECT_EQ(moment_difference(-7, 2), -2);
}

TEST(CodedColumns, AreCompactedByFrequency) {
    Array<std::uint8_t, 2> letters(4, 2);
    const std::uint8_t rows[4][2] = {{7, 20}, {3, 20}, {7, 20}, {1, 20}};
    std::copy_n(&rows[0][0], 8, letters.data());
    const CodedColumns columns = compact_columns(letters);
    EXPECT_EQ(columns.symbol_count(0), 3);
    EXPECT_EQ(columns.symbol_count(1), 1);
    EXPECT_EQ(columns.counts, (std::vector<Index>{2, 1, 1, 4}));
    EXPECT_EQ(columns.letters, (std::vector<std::uint8_t>{7, 1, 3, 20}));
    EXPECT_EQ(columns.codes(0, 0), 0);
    EXPECT_EQ(columns.codes(0, 1), 2);
    EXPECT_EQ(columns.codes(0, 3), 1);
    EXPECT_DOUBLE_EQ(entropy(columns.margin(0), 4), 1.5);
    EXPECT_EQ(entropy(columns.margin(1), 4), 0.0);
}

TEST(Tiles, ContainEveryTripleOnce) {
    for (const Index side : {1, 2, 3, 5, 9}) {
        Index total = 0;
        for (const Tile& tile : triple_tiles(9, side)) {
            const TripleTile triples = triple_tile(tile.side);
            EXPECT_EQ(triples.count, tile.items);
            Index expected_offset = 0;
            for (const TripleTile::Row& row : triples.rows) {
                EXPECT_EQ(row.offset, expected_offset);
                EXPECT_LT(row.i, row.j);
                EXPECT_LT(row.j, row.first_k);
                expected_offset += row.count;
            }
            total += triples.count;
        }
        EXPECT_EQ(total, triple_count(9));
    }
}

}  // namespace
}  // namespace pleat::mutual_information
