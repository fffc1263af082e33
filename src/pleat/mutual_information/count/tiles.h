// Tiles: pairs and triples of columns in blocks, computed in any order, resumable and on several
// ranks.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/context.h"
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

/// Maximum number of columns on a side of a tile of pairs.
constexpr Index kPairTileSide = 32;

/// Tiles that hold every pair i < j of `columns` columns once: i from side[0], j from side[1], each
/// of up to kPairTileSide columns. Tiles with the most pairs come first, so that ranks end
/// together.
std::vector<Tile> pair_tiles(Index columns);

/// The pairs (i, j) of a pair tile, in lexicographic order.
std::vector<std::pair<Index, Index>> pairs_of(const Tile& tile);

/// An array with one element per pair, and its name in the checkpoint.
using NamedArray = std::pair<std::string, std::span<double>>;

/// Calls `compute` for every tile; it sets the numbers of its tile's pairs, none of them NaN. Each
/// array holds a lower bound of its numbers at the call. Resumes from, and saves to,
/// context.checkpoint, for the problem with this hash. On return every rank has all numbers. Throws
/// Cancelled.
void compute_pair_tiles(const Context& context, const std::string& stage,
                        const std::string& problem_hash, std::span<const Tile> tiles,
                        std::span<const NamedArray> arrays,
                        const std::function<void(const Tile&)>& compute);

}  // namespace pleat::mutual_information
