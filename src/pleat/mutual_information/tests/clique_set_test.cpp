// Tests of the clique set: both definitions against plain loops, constants, counts, merging.
#include "pleat/mutual_information/triples/triple_collectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat::mutual_information {
namespace {

constexpr Index kColumns = 13;

std::vector<TripleTile> tiles_of(Index columns, Index side) {
    std::vector<TripleTile> tiles;
    for (const Tile& tile : triple_tiles(columns, side)) tiles.push_back(triple_tile(tile.side));
    return tiles;
}

/// The values of a tile's triples, out of those of all.
template <class T>
std::vector<T> values_of(const std::vector<T>& all, const TripleTile& tile) {
    std::vector<T> values(tile.count);
    for (const TripleTile::Row& row : tile.rows)
        for (Index k = 0; k < row.count; ++k)
            values[row.offset + k] = all[triple_index(row.i, row.j, row.first_k + k, kColumns)];
    return values;
}

bool has(const CliqueSet& set, Index triple) {
    return set.words()[triple / 64] >> (triple % 64) & 1;
}

TEST(CliqueSet, FollowsThePapersRuleByPercentiles) {
    std::mt19937_64 random(3);
    std::vector<std::uint32_t> pairs(pair_count(kColumns)), triples(triple_count(kColumns));
    for (auto& less : pairs) less = static_cast<std::uint32_t>(random() % 6);
    for (auto& less : triples) less = static_cast<std::uint32_t>(random() % 8);
    CliqueSet set(kColumns);
    auto tiles = tiles_of(kColumns, 5);
    std::reverse(tiles.begin(), tiles.end());
    for (const TripleTile& tile : tiles) set.add_percentiles(tile, pairs, values_of(triples, tile));
    Index triple = 0, members = 0;
    std::vector<Index> of_column(kColumns, 0);
    for (Index i = 0; i < kColumns; ++i) {
        for (Index j = i + 1; j < kColumns; ++j) {
            for (Index k = j + 1; k < kColumns; ++k, ++triple) {
                const bool member = triples[triple] >= pairs[pair_index(i, j, kColumns)] &&
                                    triples[triple] >= pairs[pair_index(i, k, kColumns)] &&
                                    triples[triple] >= pairs[pair_index(j, k, kColumns)];
                EXPECT_EQ(has(set, triple), member);
                members += member;
                for (const Index column : {i, j, k}) of_column[column] += member;
            }
        }
    }
    EXPECT_GT(members, 10);
    EXPECT_LT(members, triple);
    const TripleSet counted = std::move(set).result();
    EXPECT_EQ(counted.size, members);
    EXPECT_EQ(counted.triples_per_column, of_column);
    EXPECT_EQ(static_cast<Index>(counted.words.size()), (triple + 63) / 64);
}

TEST(CliqueSet, IgnoresConstantPairsByZ) {
    const double missing = std::nan("");
    const auto is_member = [](double ij, double ik, double jk, double ijk) {
        CliqueSet set(3);
        set.add_z(tiles_of(3, 8)[0], std::vector{ij, ik, jk}, std::vector{ijk});
        return has(set, 0);
    };
    EXPECT_TRUE(is_member(1, 2, 3, 3));
    EXPECT_TRUE(is_member(1, 2, 3, 3.5));
    EXPECT_FALSE(is_member(1, 2, 3, 2.5));
    EXPECT_FALSE(is_member(3, 2, 1, 2.5));
    EXPECT_FALSE(is_member(2, 3, 1, 2.5));
    // A column of one symbol: the triple's Z is its pair's, but for rounding.
    EXPECT_TRUE(is_member(missing, missing, 40, 40 - 1e-7));
    EXPECT_TRUE(is_member(missing, missing, -2, -2 - 1e-7));
    EXPECT_FALSE(is_member(missing, missing, 40, 39.999));
    EXPECT_TRUE(is_member(missing, missing, missing, -7));
    EXPECT_FALSE(is_member(missing, missing, missing, missing));
    EXPECT_FALSE(is_member(1, 2, 3, missing));
}

TEST(CliqueSet, MergesAndResumes) {
    const pleat::test::TemporaryFolder folder;
    std::mt19937_64 random(8);
    std::vector<double> pairs(pair_count(kColumns)), triples(triple_count(kColumns));
    for (double& z : pairs) z = static_cast<double>(random() % 100) / 10;
    for (double& z : triples) z = static_cast<double>(random() % 150) / 10;
    CliqueSet all(kColumns), left(kColumns), right(kColumns);
    const auto tiles = tiles_of(kColumns, 3);
    for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
        all.add_z(tiles[tile], pairs, values_of(triples, tiles[tile]));
        (tile % 2 ? left : right).add_z(tiles[tile], pairs, values_of(triples, tiles[tile]));
    }
    {
        NpzWriter file(folder / "state.npz");
        right.save(file, "clique");
        file.close();
    }
    const NpzReader file(folder / "state.npz");
    CliqueSet resumed = left, from_bytes = left;
    resumed.load(file, "clique");
    EXPECT_EQ(resumed.words(), all.words());
    from_bytes.merge(right.bytes());
    EXPECT_EQ(from_bytes.words(), all.words());
    from_bytes.merge(right.bytes());
    EXPECT_EQ(from_bytes.words(), all.words());
    const TripleSet set = std::move(all).result();
    EXPECT_EQ(
        std::accumulate(set.triples_per_column.begin(), set.triples_per_column.end(), Index{0}),
        3 * set.size);
    EXPECT_THROW(CliqueSet(kColumns - 1).load(file, "clique"), InputError);
}

TEST(CliqueSet, IsEmptyForFewColumns) {
    for (const Index columns : {0, 1, 2}) {
        EXPECT_EQ(CliqueSet(columns).result().size, 0);
        EXPECT_EQ(static_cast<Index>(CliqueSet(columns).result().triples_per_column.size()),
                  columns);
        EXPECT_TRUE(CliqueSet(columns).bytes().empty());
    }
}

}  // namespace
}  // namespace pleat::mutual_information
