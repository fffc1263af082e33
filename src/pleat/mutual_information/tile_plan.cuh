// A tile of triples as the GPU takes it: the planes of its columns, its sorted rows, its items.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pleat/mutual_information/cuda_layout.h"
#include "pleat/mutual_information/plane_set.cuh"
#include "pleat/mutual_information/tiles.h"

namespace pleat::mutual_information::cuda {

/// The columns of both blocks, each once. `first_plane`: [column + 1] of all columns.
inline ColumnSet column_set(std::span<const std::int32_t> first_plane, Block a, Block b) {
    if (b.first < a.first) std::swap(a, b);
    Index end = a.first + a.count;
    const Index last = std::max(end, b.first + b.count);
    const bool apart = b.count > 0 && b.first > end;
    if (!apart) end = last;
    const Index first[2] = {a.first, apart ? b.first : end}, ends[2] = {end, apart ? last : end};
    ColumnSet set;
    for (int run = 0; run < 2; ++run) {
        set.first[run] = first[run];
        set.count[run] = ends[run] - first[run];
        set.first_plane[run] = first_plane[first[run]];
        set.run_planes[run] = first_plane[ends[run]] - first_plane[first[run]];
    }
    return set;
}

/// The columns of a tile's second and third sides, and the longest slicing of their planes.
struct TilePlan {
    ColumnSet set;
    Index most_words = 0;  ///< of a plane sliced by any column i

    TilePlan(const Columns& columns, std::span<const std::int32_t> first_plane,
             const TripleTile& tile)
        : set(column_set(first_plane, tile.side[1], tile.side[2])) {
        for (Index i = tile.side[0].first; i < tile.side[0].first + tile.side[0].count; ++i)
            most_words = std::max(most_words, symbol_slices(columns.margin(i)).words());
    }
    /// Elements of the sliced planes of one group, and of the numbers of planes in them.
    Index sliced_size() const { return set.planes() * most_words * kLanes; }
    Index kept_size() const { return set.size() * kMostSymbols; }
    std::int64_t slice_bytes() const { return 4 * (sliced_size() + kept_size()); }
};

/// The block's columns behind `column`.
inline Block behind(Block block, Index column) {
    const Index first = std::max(block.first, column + 1);
    return {first, std::max<Index>(block.first + block.count - first, 0)};
}

/// Of each column of a block the rows of the alignment sorted by its code, [column][row].
inline std::vector<std::int32_t> sorted_rows(const Columns& columns, Block block) {
    const Index rows = columns.row_count();
    std::vector<std::int32_t> order(static_cast<std::size_t>(block.count * rows));
    for (Index n = 0; n < block.count; ++n) {
        const Index column = block.first + n;
        Index place[kMostSymbols] = {};
        for (int a = 1; a < columns.symbol_count(column); ++a)
            place[a] = place[a - 1] + columns.margin(column)[a - 1];
        for (Index row = 0; row < rows; ++row)
            order[n * rows + place[columns.codes(column, row)]++] = static_cast<std::int32_t>(row);
    }
    return order;
}

/// The place in the tile of the triple i, j, k is this, [i][j] of the tile's first sides, plus k.
inline std::vector<Index> first_items(const TripleTile& tile) {
    std::vector<Index> first(static_cast<std::size_t>(tile.side[0].count * tile.side[1].count), 0);
    for (const TripleTile::Row& row : tile.rows) {
        first[(row.i - tile.side[0].first) * tile.side[1].count + row.j - tile.side[1].first] =
            row.offset - row.first_k;
    }
    return first;
}

}  // namespace pleat::mutual_information::cuda
