// Tiles: cutting pairs and triples into blocks, and keeping what each block of pairs gave.
#include "pleat/mutual_information/count/tiles.h"

#include <algorithm>

#include "pleat/core/loops/additive_checkpoint.h"

namespace pleat::mutual_information {

TripleTile triple_tile(const Block (&side)[3]) {
    TripleTile tile;
    std::copy(std::begin(side), std::end(side), tile.side);
    for (Index i = side[0].first; i < side[0].first + side[0].count; ++i) {
        for (Index j = std::max(i + 1, side[1].first); j < side[1].first + side[1].count; ++j) {
            const Index first = std::max(j + 1, side[2].first);
            const Index count = side[2].first + side[2].count - first;
            if (count <= 0) continue;
            tile.rows.push_back({i, j, first, count, tile.count});
            tile.count += count;
        }
    }
    return tile;
}

std::vector<Tile> triple_tiles(Index columns, Index side) {
    std::vector<Tile> tiles;
    const auto block = [&](Index first) { return Block{first, std::min(side, columns - first)}; };
    for (Index i = 0; i < columns; i += side) {
        for (Index j = i; j < columns; j += side) {
            for (Index k = j; k < columns; k += side) {
                Tile tile;
                tile.side[0] = block(i);
                tile.side[1] = block(j);
                tile.side[2] = block(k);
                tile.items = triple_tile(tile.side).count;
                if (tile.items == 0) continue;
                tile.id = static_cast<Index>(tiles.size());
                tiles.push_back(tile);
            }
        }
    }
    return tiles;
}

std::vector<Tile> pair_tiles(Index columns) {
    std::vector<Tile> tiles;
    const auto block = [&](Index first) {
        return Block{first, std::min(kPairTileSide, columns - first)};
    };
    for (Index i = 0; i < columns; i += kPairTileSide)
        for (Index j = i; j < columns; j += kPairTileSide)
            tiles.push_back({.side = {block(i), block(j)}});
    std::erase_if(tiles, [](const Tile& tile) { return pairs_of(tile).empty(); });
    std::ranges::stable_sort(tiles, std::ranges::greater{},
                             [](const Tile& tile) { return pairs_of(tile).size(); });
    for (std::size_t tile = 0; tile < tiles.size(); ++tile)
        tiles[tile].id = static_cast<Index>(tile);
    return tiles;
}

std::vector<std::pair<Index, Index>> pairs_of(const Tile& tile) {
    const Block &rows = tile.side[0], &columns = tile.side[1];
    std::vector<std::pair<Index, Index>> pairs;
    for (Index i = rows.first; i < rows.first + rows.count; ++i)
        for (Index j = std::max(i + 1, columns.first); j < columns.first + columns.count; ++j)
            pairs.emplace_back(i, j);
    return pairs;
}

void compute_pair_tiles(const Context& context, const std::string& stage,
                        const std::string& problem_hash, std::span<const Tile> tiles,
                        std::span<const NamedArray> arrays,
                        const std::function<void(const Tile&)>& compute) {
    AdditiveCheckpoint checkpoint(context, stage, problem_hash, static_cast<Index>(tiles.size()));
    // Each pair is in one tile, so the maximum over ranks is its number. Numbers of an interrupted
    // tile are harmless, because they will be the same next time.
    for (const auto& [name, values] : arrays) checkpoint.raise(name, values);
    checkpoint.resume();
    sweep(context, stage, tiles, checkpoint, [&](const Tile& tile, View<float, 2>) {
        checkpoint.compute_before_adding([&] { compute(tile); });
    });
    checkpoint.total();
}

}  // namespace pleat::mutual_information
