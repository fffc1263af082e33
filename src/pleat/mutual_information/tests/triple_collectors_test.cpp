// Tests of the collectors of triples: any order of tiles, ties, merging, saving, limits.
#include "pleat/mutual_information/triples/triple_collectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat::mutual_information {
namespace {

constexpr Index kColumns = 17;

TEST(TripleIndex, CountsTriplesInOrderAndBack) {
    for (const Index columns : {3, 4, 5, 11}) {
        Index next = 0;
        for (Index i = 0; i < columns; ++i) {
            for (Index j = i + 1; j < columns; ++j) {
                for (Index k = j + 1; k < columns; ++k, ++next) {
                    EXPECT_EQ(triple_index(i, j, k, columns), next);
                    EXPECT_EQ(triple_at(next, columns), (std::array{i, j, k}));
                }
            }
        }
        EXPECT_EQ(next, triple_count(columns));
    }
    EXPECT_EQ(triple_index(997, 998, 999, 1000), triple_count(1000) - 1);
    for (const Index index : {0, 1'000'003, 99'999'999, 166'166'999})
        EXPECT_EQ(index,
                  std::apply([](Index i, Index j, Index k) { return triple_index(i, j, k, 1000); },
                             triple_at(index, 1000)));
}

/// Numbers of all triples: the key takes few values, so that most are ties; some are NaN.
struct Made {
    std::vector<double> key, other;
    std::vector<TripleTile> tiles;

    Made() {
        std::mt19937_64 random(6);
        for (Index triple = 0; triple < triple_count(kColumns); ++triple) {
            key.push_back(triple % 11 == 5 ? std::nan("") : static_cast<double>(random() % 9) - 4);
            other.push_back(static_cast<double>(triple) + 0.25);
        }
        for (const Tile& tile : triple_tiles(kColumns, 4)) tiles.push_back(triple_tile(tile.side));
    }

    /// [number, triple of the tile]: the second number is the key.
    Array<double, 2> values(const TripleTile& tile) const {
        Array<double, 2> values(2, tile.count);
        for (const TripleTile::Row& row : tile.rows) {
            for (Index k = 0; k < row.count; ++k) {
                const Index triple = triple_index(row.i, row.j, row.first_k + k, kColumns);
                values(0, row.offset + k) = other[triple];
                values(1, row.offset + k) = key[triple];
            }
        }
        return values;
    }

    /// Positions of the triples with a number, best first.
    std::vector<Index> sorted() const {
        std::vector<Index> order;
        for (Index triple = 0; triple < triple_count(kColumns); ++triple)
            if (!std::isnan(key[triple])) order.push_back(triple);
        std::stable_sort(order.begin(), order.end(),
                         [&](Index a, Index b) { return key[a] > key[b]; });
        return order;
    }
};

const RecordLayout kLayout{kColumns, {"position", "z"}, 1};

template <class Collector>
void expect_equal(const Collector& a, const Collector& b) {
    EXPECT_EQ(a.records().triples, b.records().triples);
    EXPECT_EQ(a.bytes(), b.bytes());
}

TEST(BestTriples, AreTheSameForAnyOrderOfTiles) {
    const Made made;
    const std::vector<Index> sorted = made.sorted();
    std::mt19937_64 random(1);
    for (const Index max_size : {0, 1, 7, 200, 10'000}) {
        std::vector<TripleTile> tiles = made.tiles;
        for (int repeat = 0; repeat < 6; ++repeat) {
            BestTriples all(kLayout, max_size), left(kLayout, max_size), right(kLayout, max_size);
            for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
                all.put(tiles[tile], made.values(tiles[tile]));
                (tile % 3 ? left : right).put(tiles[tile], made.values(tiles[tile]));
            }
            const TripleRecords records = all.records();
            const auto kept = std::min<std::size_t>(max_size, sorted.size());
            ASSERT_EQ(records.triples, std::vector<Index>(sorted.begin(), sorted.begin() + kept));
            for (std::size_t record = 0; record < kept; ++record) {
                EXPECT_EQ(records.numbers(record, 0), made.other[sorted[record]]);
                EXPECT_EQ(records.numbers(record, 1), made.key[sorted[record]]);
            }
            left.merge(right.bytes());
            expect_equal(left, all);
            std::shuffle(tiles.begin(), tiles.end(), random);
        }
    }
    EXPECT_THROW(BestTriples(kLayout, -1), UsageError);
}

TEST(BestTriples, ResumeFromAFile) {
    const pleat::test::TemporaryFolder folder;
    const Made made;
    BestTriples all(kLayout, 50), half(kLayout, 50), resumed(kLayout, 50);
    for (std::size_t tile = 0; tile < made.tiles.size(); ++tile) {
        all.put(made.tiles[tile], made.values(made.tiles[tile]));
        (tile < 20 ? half : resumed).put(made.tiles[tile], made.values(made.tiles[tile]));
    }
    {
        NpzWriter file(folder / "state.npz");
        half.save(file, "best");
        BestTriples(kLayout, 50).save(file, "none");
        file.close();
    }
    const NpzReader file(folder / "state.npz");
    resumed.load(file, "best");
    resumed.load(file, "none");
    expect_equal(resumed, all);
    BestTriples merged(kLayout, 50);
    merged.merge(resumed.bytes());
    expect_equal(merged, all);

    const auto refuses = [&](RecordLayout numbers, Index max_size) {
        return pleat::test::error_text<InputError>(
            [&] { BestTriples(std::move(numbers), max_size).load(file, "best"); });
    };
    EXPECT_NE(refuses(kLayout, 51).find("found '17 columns; position z; best 50 by z'"),
              std::string::npos);
    refuses({18, {"position", "z"}, 1}, 50);
    refuses({kColumns, {"position", "z"}, 0}, 50);
    refuses({kColumns, {"position", "excess"}, 1}, 50);
}

TEST(TriplesAbove, KeepsAllOrRefusesTooMany) {
    const pleat::test::TemporaryFolder folder;
    const Made made;
    std::vector<Index> expected;
    for (Index triple = 0; triple < triple_count(kColumns); ++triple)
        if (made.key[triple] >= 3) expected.push_back(triple);
    const auto count = static_cast<Index>(expected.size());
    std::vector<TripleTile> tiles = made.tiles;
    for (int repeat = 0; repeat < 2; ++repeat) {
        TriplesAbove enough(kLayout, 3, count), left(kLayout, 3, count), right(kLayout, 3, count);
        const auto feed_too_small = [&] {
            TriplesAbove small(kLayout, 3, count - 1);
            for (const TripleTile& tile : tiles) small.put(tile, made.values(tile));
        };
        for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
            enough.put(tiles[tile], made.values(tiles[tile]));
            (tile % 2 ? left : right).put(tiles[tile], made.values(tiles[tile]));
        }
        EXPECT_EQ(enough.records().triples, expected);
        EXPECT_EQ(enough.records().numbers(0, 0), made.other[expected[0]]);
        EXPECT_NE(pleat::test::error_text<UsageError>(feed_too_small)
                      .find("more than " + std::to_string(count - 1) + " triples have z >= 3"),
                  std::string::npos);
        TriplesAbove small(kLayout, 3, count - 1);
        small.merge(left.bytes());
        EXPECT_THROW(small.merge(right.bytes()), UsageError);
        {
            NpzWriter file(folder / "over.npz");
            right.save(file, "over");
            file.close();
        }
        left.load(NpzReader(folder / "over.npz"), "over");
        expect_equal(left, enough);
        EXPECT_THROW(TriplesAbove(kLayout, 2.5, count).load(NpzReader(folder / "over.npz"), "over"),
                     InputError);
        TriplesAbove from_bytes(kLayout, 3, count);
        from_bytes.merge(left.bytes());
        expect_equal(from_bytes, enough);
        std::reverse(tiles.begin(), tiles.end());
    }
}

}  // namespace
}  // namespace pleat::mutual_information
