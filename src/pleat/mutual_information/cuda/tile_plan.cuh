// Tile plan: a tile of triples for the GPU: its sorted rows, its items, and the strips per CTA.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pleat/mutual_information/cuda/count_steps.cuh"
#include "pleat/mutual_information/cuda/cuda_layout.h"
#include "pleat/mutual_information/triples/tiles.h"

namespace pleat::mutual_information::cuda {

/// For each column of a block the rows of the alignment sorted by its code, [column][row].
inline std::vector<std::int32_t> sorted_rows(const Columns& columns, Block block) {
    const Index rows = columns.row_count();
    std::vector<std::int32_t> order(static_cast<std::size_t>(block.count * rows));
    for (Index n = 0; n < block.count; ++n) {
        const Index column = block.first + n;
        Index next[kMaxSymbols] = {};
        for (int a = 1; a < columns.symbol_count(column); ++a)
            next[a] = next[a - 1] + columns.margin(column)[a - 1];
        for (Index row = 0; row < rows; ++row)
            order[n * rows + next[columns.codes(column, row)]++] = static_cast<std::int32_t>(row);
    }
    return order;
}

/// [i][j] of the tile's first two sides: plus k, the position in the tile of the triple i, j, k.
inline std::vector<Index> first_items(const TripleTile& tile) {
    std::vector<Index> first(static_cast<std::size_t>(tile.side[0].count * tile.side[1].count), 0);
    for (const TripleTile::Row& row : tile.rows) {
        first[(row.i - tile.side[0].first) * tile.side[1].count + row.j - tile.side[1].first] =
            row.offset - row.first_k;
    }
    return first;
}

/// Which data a CTA keeps in shared memory while it counts, and how many strips it takes on each
/// side.
struct CountShare {
    bool f_in_shared = false, planes_in_shared = false;
    int rows = 1, columns = 1;
    Index bytes = 0;
};

/// The share of a CTA, for `rows` and `columns` strips and at most `max_bytes` of shared memory. If
/// that leaves enough strips, two CTAs share a processor.
inline CountShare plan_share(int rows, int columns, int f_size, int stride, Index max_bytes) {
    constexpr Index kMaxBytesOfF = 48 << 10, kHalf = 112 << 10;
    constexpr int kEnough = 4, kMaxStrips = 20;
    CountShare share;
    share.f_in_shared = 8 * Index{f_size} <= kMaxBytesOfF;
    const int f_in_cta = share.f_in_shared ? f_size : 0;
    const auto max_strips = [&](Index bytes) {
        int strips = kMaxStrips;
        while (strips >= 2 && count_shared_bytes(f_in_cta, strips, stride) > bytes) --strips;
        return strips;
    };
    int strips = max_strips(std::min(kHalf, max_bytes));
    if (strips < kEnough) strips = max_strips(max_bytes);
    share.planes_in_shared = strips >= 2;
    if (!share.planes_in_shared) strips = kEnough;
    const auto even = [](int all, int max_share) {
        const int shares = (all + max_share - 1) / max_share;
        return (all + shares - 1) / shares;
    };
    share.rows = even(rows, std::min(rows, strips / 2));
    share.columns = even(columns, std::min(columns, strips - share.rows));
    share.bytes = count_shared_bytes(
        f_in_cta, share.planes_in_shared ? share.rows + share.columns : 0, stride);
    return share;
}

}  // namespace pleat::mutual_information::cuda
