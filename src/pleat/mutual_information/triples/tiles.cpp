// Tiles: cutting all triples of columns into blocks.
#include "pleat/mutual_information/triples/tiles.h"

#include <algorithm>

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

}  // namespace pleat::mutual_information
