// The shuffle: uniform over all arrangements, and the bit planes hold the very same ones.
#include "pleat/mutual_information/kernel/shuffle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "pleat/mutual_information/kernel/shuffled_planes.h"
#include "random_columns.h"

namespace pleat::mutual_information {
namespace {

std::vector<std::uint8_t> shuffled(std::span<const Index> margin, std::uint64_t seed,
                                   std::uint32_t shuffle, std::uint32_t column) {
    Index rows = 0;
    for (const Index n : margin) rows += n;
    std::vector<std::uint8_t> codes(rows);
    shuffle_column(margin, seed, shuffle, column, codes);
    return codes;
}

/// Chi-square of the arrangements of a column over `count` shuffles against the uniform
/// distribution, as its distance from the mean in standard deviations.
double chi_square_deviation(std::vector<Index> margin, int count, double arrangements) {
    std::map<std::vector<std::uint8_t>, int> seen;
    for (int s = 0; s < count; ++s) ++seen[shuffled(margin, 5, static_cast<std::uint32_t>(s), 3)];
    EXPECT_EQ(static_cast<double>(seen.size()), arrangements);
    const double expected = count / arrangements;
    double chi2 = 0;
    for (const auto& [arrangement, n] : seen) chi2 += (n - expected) * (n - expected) / expected;
    const double freedom = arrangements - 1;
    return (chi2 - freedom) / std::sqrt(2 * freedom);
}

TEST(Shuffle, IsUniformOverAllArrangements) {
    EXPECT_LT(std::abs(chi_square_deviation({1, 1, 1, 1, 1}, 120000, 120)), 4);
    EXPECT_LT(std::abs(chi_square_deviation({1, 1, 1, 1, 1, 1}, 300000, 720)), 4);
    EXPECT_LT(std::abs(chi_square_deviation({3, 2, 1}, 120000, 60)), 4);
    EXPECT_LT(std::abs(chi_square_deviation({4, 2, 2}, 300000, 420)), 4);
    EXPECT_LT(std::abs(chi_square_deviation({7, 1}, 50000, 8)), 4);
}

TEST(Shuffle, KeepsTheMargin) {
    const std::vector<Index> margin{40, 31, 7, 1};
    std::vector<std::uint8_t> codes = shuffled(margin, 1, 0, 0);
    for (std::size_t symbol = 0; symbol < margin.size(); ++symbol)
        EXPECT_EQ(std::count(codes.begin(), codes.end(), symbol), margin[symbol]);
}

TEST(Shuffle, DependsOnSeedShuffleAndColumn) {
    const std::vector<Index> margin{40, 31, 7, 1};
    const auto first = shuffled(margin, 1, 0, 0);
    EXPECT_EQ(first, shuffled(margin, 1, 0, 0));
    EXPECT_NE(first, shuffled(margin, 2, 0, 0));
    EXPECT_NE(first, shuffled(margin, 1 + (std::uint64_t{1} << 32), 0, 0));
    EXPECT_NE(first, shuffled(margin, 1, 1, 0));
    EXPECT_NE(first, shuffled(margin, 1, 0, 1));
}

TEST(Shuffle, ColumnsOfAShuffleAreIndependent) {
    // The number of rows in which two shuffled columns agree: hypergeometric, mean 25,
    // variance 6.3.
    const std::vector<Index> margin{50, 50};
    double sum = 0;
    for (std::uint32_t s = 0; s < 4000; ++s) {
        const auto a = shuffled(margin, 9, s, 0), b = shuffled(margin, 9, s, 1);
        for (std::size_t row = 0; row < a.size(); ++row) sum += a[row] == 1 && b[row] == 1;
    }
    EXPECT_NEAR(sum / 4000, 25.0, 4 * std::sqrt(6.3 / 4000));
}

TEST(BoundedDraw, RedrawsWordsThatWouldFavourSomeValues) {
    // Half of all words are refused for a range just above 2^31: a third of the draws below 2^30
    // would be too many without that.
    const std::uint32_t range = (1u << 31) + 1;
    int low = 0;
    for (std::uint32_t index = 0; index < 20000; ++index) {
        const std::uint32_t draw = bounded_draw(3, 0, 0, index, range);
        ASSERT_LT(draw, range);
        low += draw % 2;
    }
    EXPECT_NEAR(low, 10000, 4 * std::sqrt(5000.0));
    EXPECT_EQ(bounded_draw(3, 0, 0, 0, 1), 0u);
}

TEST(ShuffledPlanes, AgreeWithShufflesBitForBit) {
    for (const Index rows : {1, 5, 64, 65, 200}) {
        const CodedColumns columns = random_columns(rows, 6, 22, 4);
        const PlaneLayout layout(columns, {1, 2}, {2, 4});
        ASSERT_EQ(layout.columns, (std::vector<Index>{1, 2, 3, 4, 5}));
        const Index groups = 3, first = 11;
        Array<std::uint64_t, 4> bits(groups, layout.planes, layout.words, kLanes);
        shuffle_planes(columns, layout, 77, first, groups, 2, bits.data());
        for (const Index column : layout.columns) {
            for (Index s = 0; s < groups * kLanes; ++s) {
                const auto codes =
                    shuffled(columns.margin(column), 77, static_cast<std::uint32_t>(first + s),
                             static_cast<std::uint32_t>(column));
                for (int symbol = 1; symbol < columns.symbol_count(column); ++symbol) {
                    const Index plane = layout.first_bit_plane[column] + symbol - 1;
                    for (Index row = 0; row < layout.words * 64; ++row) {
                        const bool bit =
                            bits(s / kLanes, plane, row / 64, s % kLanes) >> (row % 64) & 1;
                        ASSERT_EQ(bit, row < rows && codes[row] == symbol);
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace pleat::mutual_information
