// Tiles: blocks of column triples, and the order of the triples in them.
#pragma once

#include <vector>

#include "pleat/core/loops/sweep.h"

namespace pleat::mutual_information {

/// The triples i < j < k of one tile, in lexicographic order: i from one block of columns, j from
/// the same or a later one, k likewise. A row holds the triples of one i and j.
struct TripleTile {
    struct Row {
        Index i, j;
        Index first_k, count;  ///< k = first_k, ..., first_k + count - 1
        Index offset;          ///< position of the row's first triple in the tile
    };
    Block side[3];
    std::vector<Row> rows;
    Index count = 0;
};

TripleTile triple_tile(const Block (&side)[3]);

/// Tiles that contain every triple of `columns` columns once, with up to `side` columns on a side;
/// Tile::items is the number of triples.
std::vector<Tile> triple_tiles(Index columns, Index side);

}  // namespace pleat::mutual_information
