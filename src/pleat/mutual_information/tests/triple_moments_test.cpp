// Triple moments: against all permutations of short columns, and the law of total variance.
#include "pleat/mutual_information/exact/triple_moments.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "pleat/core/error.h"
#include "pleat/mutual_information/exact/hahn.h"
#include "pleat/mutual_information/exact/pair_moments.h"
#include "pleat/mutual_information/exact/triple_vectors.h"

namespace pleat::mutual_information {

namespace {

using Margin = std::vector<Index>;
using Long = long double;

struct AllTriples {
    TripleTile tile;
    Array<double, 1> mean, variance;
};

AllTriples all_triples(const CodedColumns& columns, int threads, bool with_variance) {
    AllTriples all;
    const Block whole{0, columns.column_count()};
    all.tile = triple_tile({whole, whole, whole});
    all.mean = Array<double, 1>(all.tile.count);
    all.variance = Array<double, 1>(all.tile.count);
    Context context;
    context.threads = threads;
    TripleMoments moments(columns, context, with_variance);
    if (with_variance) {
        moments.moments(all.tile, all.mean, all.variance);
    } else {
        moments.mean(all.tile, all.mean);
    }
    return all;
}

// Columns with these margins, each sorted.
CodedColumns columns_of(const std::vector<Margin>& margins) {
    const Index rows = std::accumulate(margins[0].begin(), margins[0].end(), Index{0});
    Array<std::uint8_t, 2> letters(rows, static_cast<Index>(margins.size()));
    for (Index column = 0; column < letters.extent(1); ++column) {
        Index row = 0;
        for (std::size_t symbol = 0; symbol < margins[column].size(); ++symbol)
            for (Index count = 0; count < margins[column][symbol]; ++count)
                letters(row++, column) = static_cast<std::uint8_t>(symbol);
    }
    return compact_columns(letters);
}

Margin random_margin(Index rows, std::size_t max_size, std::mt19937& random) {
    Margin margin;
    for (Index left = rows; left > 0; left -= margin.back()) {
        const bool is_last = margin.size() + 1 == max_size;
        margin.push_back(is_last ? left : std::uniform_int_distribution<Index>(1, left)(random));
    }
    return margin;
}

// Every arrangement of columns j and k beside column i.
TEST(TripleMoments, AgreeWithAllPermutations) {
    std::mt19937 random(21);
    for (int trial = 0; trial < 40; ++trial) {
        const Index rows = 3 + trial % 4;
        std::vector<Margin> margins;
        for (int column = 0; column < 3; ++column)
            margins.push_back(random_margin(rows, 9, random));
        const CodedColumns columns = columns_of(margins);
        std::vector<int> j(rows), k(rows);
        for (Index row = 0; row < rows; ++row) j[row] = columns.codes(1, row);
        double entropies = 0;
        for (int column = 0; column < 3; ++column)
            entropies += entropy(columns.margin(column), rows);
        std::vector<double> values;
        std::sort(j.begin(), j.end());
        do {
            for (Index row = 0; row < rows; ++row) k[row] = columns.codes(2, row);
            std::sort(k.begin(), k.end());
            do {
                Margin table(1000);
                for (Index row = 0; row < rows; ++row)
                    ++table[columns.codes(0, row) * 100 + j[row] * 10 + k[row]];
                values.push_back(entropies - entropy(table, rows));
            } while (std::next_permutation(k.begin(), k.end()));
        } while (std::next_permutation(j.begin(), j.end()));
        const auto count = static_cast<double>(values.size());
        double mean = 0, variance = 0;
        for (const double value : values) mean += value / count;
        for (const double value : values) variance += (value - mean) * (value - mean) / count;
        const AllTriples all = all_triples(columns, 1, true);
        ASSERT_NEAR(all.mean(0), mean, 1e-12) << trial;
        ASSERT_NEAR(all.variance(0), variance, 1e-12) << trial;
    }
}

// Mean and variance of MI_ijk over the tables of i (two symbols) and j, each a margin beside k.
Moments by_total_variance(const Margin& i, const Margin& j, const Margin& k) {
    const Index rows = i[0] + i[1];
    const auto lf = [](Index n) { return std::lgamma(static_cast<Long>(n) + 1); };
    const auto choose = [&](Index n, Index x) { return lf(n) - lf(x) - lf(n - x); };
    Long mean = 0, square = 0, within = 0;
    Margin cells(2 * j.size());
    const double entropies = entropy(i, rows) + entropy(j, rows);
    const std::function<void(std::size_t, Index, Long)> from = [&](std::size_t letter, Index left,
                                                                   Long probability) {
        if (letter == j.size()) {
            if (left > 0) return;
            Margin table;
            std::copy_if(cells.begin(), cells.end(), std::back_inserter(table),
                         [](Index count) { return count > 0; });
            const Moments moments = pair_moments(table, k);
            const Long value = entropies - entropy(table, rows) + moments.mean;
            const Long p = std::exp(probability - choose(rows, i[1]));
            mean += p * value;
            square += p * value * value;
            within += p * moments.variance;
            return;
        }
        for (Index x = 0; x <= std::min(left, j[letter]); ++x) {
            cells[2 * letter] = x;
            cells[2 * letter + 1] = j[letter] - x;
            from(letter + 1, left - x, probability + choose(j[letter], x));
        }
    };
    from(0, i[1], 0);
    return {static_cast<double>(mean), static_cast<double>(within + square - mean * mean)};
}

TEST(TripleMoments, AgreeWithTheLawOfTotalVariance) {
    std::mt19937 random(4);
    for (const Index rows : {8, 31, 66, 120, 400}) {
        for (int trial = 0; trial < 4; ++trial) {
            const Index rare = std::uniform_int_distribution<Index>(1, 7)(random);
            const Margin i{rows - rare, rare};
            const Margin j = random_margin(rows, trial % 2 == 0 ? 2 : 3, random);
            const Margin k = random_margin(rows, trial < 2 ? 20 : 3, random);
            const Moments expected = by_total_variance(i, j, k);
            // Other columns widen the basis; each order of the three gives the same.
            const CodedColumns columns = columns_of({i, j, k, i, j});
            const AllTriples all = all_triples(columns, 1, true);
            for (const auto& row : all.tile.rows) {
                for (Index at = 0; at < row.count; ++at) {
                    const Index third = row.first_k + at;
                    if (row.i % 3 == row.j % 3 || row.i % 3 == third % 3 || row.j % 3 == third % 3)
                        continue;
                    ASSERT_NEAR(all.mean(row.offset + at), expected.mean, 1e-12 * expected.mean);
                    ASSERT_NEAR(all.variance(row.offset + at), expected.variance,
                                1e-10 * expected.variance + 1e-16)
                        << rows << " " << trial;
                }
            }
        }
    }
}

TEST(TripleMoments, AreThoseOfThePairForAConstantColumn) {
    std::mt19937 random(6);
    for (const Index rows : {5, 90, 300, 900}) {
        std::vector<Margin> margins{{rows}, {rows}};
        for (int column = 0; column < 12; ++column)
            margins.push_back(random_margin(rows, 8, random));
        const CodedColumns columns = columns_of(margins);
        const AllTriples all = all_triples(columns, 1, true);
        for (const auto& row : all.tile.rows) {
            if (row.i >= 2) continue;
            for (Index at = 0; at < row.count; ++at) {
                const Moments expected =
                    pair_moments(columns.margin(row.j), columns.margin(row.first_k + at));
                ASSERT_NEAR(all.mean(row.offset + at), expected.mean, 1e-12 * expected.mean);
                ASSERT_NEAR(all.variance(row.offset + at), expected.variance,
                            1e-10 * expected.variance);
            }
        }
        // The pair may be the first two columns of the triple as well.
        Margin last{rows};
        margins.push_back(last);
        const CodedColumns reversed = columns_of({margins.rbegin(), margins.rend()});
        const AllTriples other = all_triples(reversed, 1, true);
        for (const auto& row : other.tile.rows) {
            if (row.i == 0) continue;
            const Moments expected = pair_moments(reversed.margin(row.i), reversed.margin(row.j));
            const Index constant = reversed.column_count() - 1;
            if (row.first_k + row.count <= constant) continue;
            const Index at = row.offset + constant - row.first_k;
            ASSERT_NEAR(other.mean(at), expected.mean, 1e-12 * expected.mean);
            ASSERT_NEAR(other.variance(at), expected.variance, 1e-10 * expected.variance);
        }
    }
}

CodedColumns random_columns(Index rows, Index columns) {
    std::mt19937 random(3);
    Array<std::uint8_t, 2> letters(rows, columns);
    for (auto& letter : letters)
        letter = static_cast<std::uint8_t>(random() % 8 % (1 + random() % 7));
    return compact_columns(letters);
}

TEST(TripleMoments, HaveTheSameBitsForAnyThreadsAndTiles) {
    const CodedColumns columns = random_columns(100, 17);
    const AllTriples one = all_triples(columns, 1, true), three = all_triples(columns, 3, true);
    Context context;
    context.threads = 2;
    TripleMoments moments(columns, context, true);
    Array<double, 1> mean(one.tile.count), variance(one.tile.count);
    for (const Tile& of_sweep : triple_tiles(17, 5)) {
        const TripleTile tile = triple_tile(of_sweep.side);
        Array<double, 1> part_mean(tile.count), part_variance(tile.count);
        moments.moments(tile, part_mean, part_variance);
        for (const auto& row : tile.rows) {
            for (Index at = 0; at < row.count; ++at) {
                const auto found = std::find_if(
                    one.tile.rows.begin(), one.tile.rows.end(),
                    [&](const auto& other) { return other.i == row.i && other.j == row.j; });
                const Index whole = found->offset + row.first_k + at - found->first_k;
                ASSERT_EQ(part_mean(row.offset + at), one.mean(whole));
                ASSERT_EQ(part_variance(row.offset + at), one.variance(whole));
            }
        }
    }
    for (Index at = 0; at < one.tile.count; ++at) {
        ASSERT_EQ(one.mean(at), three.mean(at));
        ASSERT_EQ(one.variance(at), three.variance(at));
        ASSERT_GT(one.mean(at), 0);
        ASSERT_GT(one.variance(at), 0);
    }
}

TEST(TripleMoments, EstimateTheirSeconds) {
    const CodedColumns small = random_columns(100, 10), large = random_columns(100, 60);
    EXPECT_GT(TripleMoments::seconds(small, false), 0);
    EXPECT_GT(TripleMoments::seconds(small, true), TripleMoments::seconds(small, false));
    EXPECT_GT(TripleMoments::seconds(large, true), 10 * TripleMoments::seconds(small, true));
    EXPECT_LT(TripleMoments::seconds(large, true), 100);
}

std::int64_t held_bytes() {
    const struct mallinfo2 info = ::mallinfo2();
    return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

TEST(TripleMoments, UseNoMoreMemoryThanEstimated) {
    struct Case {
        Index rows, columns;
        int symbols;
        bool with_variance;
        double min_share;  // of the estimate that is used
    };
    for (const Case& given : {Case{30000, 6, 4, true, 0.25},
                              {30000, 6, 4, false, 0.5},
                              {300, 40, 7, true, 0.05},
                              {12, 30, 5, true, 0.1},
                              {2, 3, 2, true, 0.0}}) {
        SCOPED_TRACE(std::to_string(given.rows) + " rows");
        std::mt19937 random(3);
        Array<std::uint8_t, 2> letters(given.rows, given.columns);
        for (std::uint8_t& letter : letters)
            letter = static_cast<std::uint8_t>(random() % static_cast<unsigned>(given.symbols) *
                                               (random() % 2));
        const CodedColumns columns = compact_columns(letters);
        Context context;
        context.threads = 2;
        const Block side{0, given.columns};
        const TripleTile tile = triple_tile({side, side, side});
        Array<double, 1> mean(tile.count), variance(tile.count);
        const std::int64_t before = held_bytes();
        TripleMoments moments(columns, context, given.with_variance);
        if (given.with_variance) {
            moments.moments(tile, mean, variance);
        } else {
            moments.mean(tile, mean);
        }
        const std::int64_t used = held_bytes() - before;
        if (used == 0) GTEST_SKIP() << "this allocator does not report its memory";
        const std::int64_t estimated =
            TripleMoments::bytes({given.rows, given.columns, given.symbols, given.columns,
                                  context.threads, given.with_variance});
        EXPECT_LE(used, estimated);
        EXPECT_GE(static_cast<double>(used), given.min_share * static_cast<double>(estimated));
    }
}

TEST(TripleMoments, NodesAndDifferencesUseNoMoreMemoryThanEstimated) {
    for (const Index rows :
         {1, 2, 31, 32, 63, 64, 65, 95, 96, 97, 127, 128, 753, 4097, 65536, 70001}) {
        EXPECT_LE(CountNodes(rows).size(), CountNodes::max_size(rows)) << rows;
        const std::int64_t before = held_bytes();
        const CountNodes nodes(rows);
        EXPECT_LE(held_bytes() - before, CountNodes::bytes(rows) + 1024) << rows;
    }
    for (const Index rows : {1, 100, 3000}) {
        const std::int64_t before = held_bytes();
        const Differences differences(rows);
        EXPECT_LE(held_bytes() - before, Differences::bytes(rows) + 8192) << rows;
    }
}

struct Stopped final : Progress {
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
    bool cancelled() override { return true; }
    void message(std::string_view) override {}
};

TEST(TripleMoments, CanBeCancelledAndRefuseVariancesIfNotPrepared) {
    const CodedColumns columns = random_columns(30, 6);
    Stopped progress;
    Context context;
    context.progress = &progress;
    EXPECT_THROW(TripleMoments(columns, context, true), Cancelled);
    TripleMoments moments(columns, {}, false);
    const Block whole{0, 6};
    const TripleTile tile = triple_tile({whole, whole, whole});
    Array<double, 1> mean(tile.count), variance(tile.count);
    EXPECT_THROW(moments.moments(tile, mean, variance), UsageError);
}

}  // namespace

}  // namespace pleat::mutual_information
