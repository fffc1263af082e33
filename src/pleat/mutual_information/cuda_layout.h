// How the CUDA kernel lays out its bit planes, and the bytes they take: plain numbers, for every
// build.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "pleat/core/sweep.h"
#include "pleat/mutual_information/columns.h"

namespace pleat::mutual_information::cuda {

/// Shuffles that lie side by side: one a lane of a warp.
constexpr Index kLanes = 32;
/// Rows in one word of a plane.
constexpr Index kWordRows = 32;
constexpr int kMostSymbols = 32;
/// Groups of kLanes shuffles in one launch: the most blocks along a grid's second side.
constexpr Index kMostGroups = 65535;

constexpr Index round_up(Index n, Index to) { return (n + to - 1) / to * to; }
constexpr Index word_count(Index rows) { return (rows + kWordRows - 1) / kWordRows; }

/// Symbols of a column that get a plane: those of two rows and more. No cell of another symbol
/// holds more than one row, and F(0) = F(1) = 0. They are the first ones, since codes fall in
/// frequency.
inline int plane_count(std::span<const Index> margin) {
    return static_cast<int>(std::ranges::count_if(margin, [](Index rows) { return rows >= 2; }));
}

/// Ranges of rows that are counted each for itself, every one in words of its own. Of triples: the
/// rows of each symbol of column i that has a plane. Of pairs: one range, all rows.
struct Slices {
    int count = 0;
    std::int32_t first_row[kMostSymbols] = {};
    std::int32_t rows[kMostSymbols] = {};
    std::int32_t first_word[kMostSymbols + 1] = {};  ///< [count]: words in all

    void add(Index first, Index row_count) {
        first_row[count] = static_cast<std::int32_t>(first);
        rows[count] = static_cast<std::int32_t>(row_count);
        first_word[count + 1] =
            first_word[count] + static_cast<std::int32_t>(word_count(row_count));
        ++count;
    }
    Index words() const { return first_word[count]; }
};

/// The slices of a column sorted by code.
inline Slices symbol_slices(std::span<const Index> margin) {
    Slices slices;
    Index first = 0;
    for (const Index rows : margin) {
        if (rows >= 2) slices.add(first, rows);
        first += rows;
    }
    return slices;
}

inline Slices whole_slice(Index rows) {
    Slices slices;
    slices.add(0, rows);
    return slices;
}

/// Groups of shuffles in work at a time: those whose planes are there, and those of them whose
/// planes are sliced by a column i.
struct Batches {
    Index groups = 0, sliced = 0;
};

/// The batches for `wanted` groups within `available` bytes, where a group takes `group` bytes of
/// planes and `slice` bytes of sliced ones (0 for pairs); none where not even one group fits.
constexpr Batches plan_batches(Index wanted, std::int64_t group, std::int64_t slice,
                               std::int64_t available) {
    if (group + slice > available) return {};
    const Index most = std::clamp<Index>(wanted, 1, kMostGroups);
    const std::int64_t share = slice > 0 ? available / 2 : available;
    const Index fit = group > 0 ? std::clamp<Index>(share / group, 1, most) : most;
    const Index batches = (most + fit - 1) / fit, groups = (most + batches - 1) / batches;
    const std::int64_t left = available - groups * group;
    return {groups, slice > 0 ? std::clamp<Index>(left / slice, 1, groups) : groups};
}

/// Bytes of the planes of one group of shuffles of all columns.
inline std::int64_t group_bytes(const Columns& columns) {
    std::int64_t planes = 0;
    for (Index column = 0; column < columns.column_count(); ++column)
        planes += plane_count(columns.margin(column));
    return planes * word_count(columns.row_count()) * kLanes * 4;
}

/// Bytes beside the planes for so many pairs, or triples of a tile, and shuffles.
constexpr std::int64_t item_bytes(Index items, Index shuffles) {
    return items * (8 + 48 + 16) + round_up(shuffles, kLanes) * 8;
}

/// What the runtime and the rounding of allocations take besides.
constexpr std::int64_t kSpareBytes = std::int64_t{256} << 20;

/// Bytes of a GPU that fill it with work on `shuffles` shuffles of all pairs (order 2), or also of
/// triples in tiles of up to `items` items (order 3). The kernel takes room for all shuffles where
/// that is free, and works with less than this, down to one group of 32 shuffles.
inline std::int64_t memory_needed(const Columns& columns, int order, Index shuffles, Index items) {
    constexpr Index kEnoughGroups = 64;
    const Index groups = std::min(word_count(std::max<Index>(shuffles, 1)), kEnoughGroups);
    const std::int64_t planes = group_bytes(columns);
    // A slice pads each symbol's rows to whole words.
    const std::int64_t padding = columns.row_count() / kWordRows + kMostSymbols;
    const std::int64_t sliced = planes / word_count(columns.row_count()) * padding;
    return groups * (planes + (order == 3 ? sliced : 0)) + item_bytes(items, shuffles) +
           8 * (columns.row_count() + 1) + columns.codes.size() + kSpareBytes;
}

}  // namespace pleat::mutual_information::cuda
