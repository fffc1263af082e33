// CUDA layout: how the CUDA kernel lays out its bit planes, and their bytes, also in builds without
// CUDA.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/loops/sweep.h"
#include "pleat/mutual_information/count/columns.h"

namespace pleat::mutual_information::cuda {

/// Shuffles made side by side: one per lane of a warp.
constexpr Index kLanes = 32;
/// Rows in one word of a plane.
constexpr Index kWordRows = 32;
/// Maximum number of columns on a side of a tile of triples.
constexpr Index kTileSide = 64;
/// Maximum side of a single tile that contains all triples; used if it has at most
/// kSingleTileTables tables, about 0.1 s of GPU work. It has no more triples than a tile of side
/// kTileSide.
constexpr Index kSingleTileSide = 96, kSingleTileTables = Index{1} << 31;
/// Maximum number of groups of kLanes shuffles at a time.
constexpr Index kMaxGroups = 65535;

constexpr Index round_up(Index n, Index to) { return (n + to - 1) / to * to; }
constexpr Index word_count(Index rows) { return (rows + kWordRows - 1) / kWordRows; }

/// Words from a plane to the next. Words are copied in fours, and the eight planes by four words
/// that a warp reads at once are in 32 different banks of shared memory.
constexpr Index plane_stride(Index rows) { return round_up(word_count(rows) + 4, 8) - 4; }

/// Number of symbols with at least two rows; only these have a plane. Cells of other symbols have
/// at most one row, and F(0) = F(1) = 0. Codes are sorted by frequency, so these symbols come
/// first.
inline int plane_count(std::span<const Index> margin) {
    return static_cast<int>(std::ranges::count_if(margin, [](Index rows) { return rows >= 2; }));
}

/// Planes of a column, padded with empty ones to an even number, since a lane adds up two
/// neighbouring planes.
inline int padded_planes(std::span<const Index> margin) {
    return std::max(2, (plane_count(margin) + 1) / 2 * 2);
}

/// The index of the first bit plane of each column of the blocks; the last element is the number of
/// planes.
inline std::vector<std::int32_t> first_bit_planes(const CodedColumns& columns,
                                                  std::span<const Block> blocks) {
    std::vector<std::int32_t> first = {0};
    for (const Block& block : blocks) {
        for (Index column = block.first; column < block.first + block.count; ++column)
            first.push_back(first.back() + padded_planes(columns.margin(column)));
    }
    return first;
}

/// Planes on a side of the block that a warp counts at once, and their maximum number of columns.
constexpr int kStripPlanes = 32, kStripColumns = kStripPlanes / 2;

/// Consecutive columns that together have up to kStripPlanes planes.
struct Strip {
    std::int32_t first_bit_plane = 0, first_column = 0, columns = 0;
    std::uint32_t column_end_bits =
        0;  ///< bit p is set if planes 2 p and 2 p + 1 are the last two of a column
    std::uint8_t plane_start[kStripColumns + 1] = {};  ///< [column]: its first plane in the strip

    int planes() const { return plane_start[columns]; }
};

/// Cuts a block of columns into strips; `first_bit_plane` is that of the block's columns.
inline std::vector<Strip> make_strips(std::span<const std::int32_t> first_bit_plane, Block block) {
    std::vector<Strip> strips;
    for (Index n = 0; n < block.count; ++n) {
        const std::int32_t end = first_bit_plane[n + 1];
        if (strips.empty() || end - strips.back().first_bit_plane > kStripPlanes)
            strips.push_back({.first_bit_plane = first_bit_plane[n],
                              .first_column = static_cast<std::int32_t>(block.first + n)});
        Strip& strip = strips.back();
        strip.plane_start[++strip.columns] = static_cast<std::uint8_t>(end - strip.first_bit_plane);
        strip.column_end_bits |= 1u << ((end - strip.first_bit_plane) / 2 - 1);
    }
    return strips;
}

/// The number of groups of shuffles whose planes are in memory at a time, and how many of them are
/// counted before their differences are summed.
struct Batches {
    Index groups = 0, counted_groups = 0;
};

/// How many of `max_groups` groups of shuffles to hold in memory, and to count at a time, within
/// `available` bytes. A group takes `group` bytes of bit planes, and `differences` bytes more once
/// it is counted. None if not even one group fits.
constexpr Batches fit_batches(Index max_groups, std::int64_t group, std::int64_t differences,
                              std::int64_t available) {
    // Storing more differences at a time is not faster; with fewer planes in memory, each tile has
    // to shuffle again.
    constexpr std::int64_t kGiB = std::int64_t{1} << 30, kEnoughGroups = 128;
    const std::int64_t kept_bytes = std::clamp(kEnoughGroups * differences, kGiB, 4 * kGiB);
    if (group + differences > available) return {};
    const Index wanted_groups = std::clamp<Index>(max_groups, 1, kMaxGroups);
    const std::int64_t reserved_bytes =
        std::clamp(available / 4, differences, std::max(differences, kept_bytes));
    const Index fit = std::clamp<Index>((available - reserved_bytes) / group, 1, wanted_groups);
    const Index batches = (wanted_groups + fit - 1) / fit;
    const Index groups = (wanted_groups + batches - 1) / batches;
    const std::int64_t remaining_bytes =
        std::min(available - groups * group, std::max(differences, kept_bytes));
    const Index counted_groups = std::clamp<Index>(remaining_bytes / differences, 1, groups);
    const Index passes = (groups + counted_groups - 1) / counted_groups;
    return {groups, (groups + passes - 1) / passes};
}

/// Words of all columns' planes in one shuffle.
inline Index arrangement_words(const CodedColumns& columns) {
    Index planes = 0;
    for (Index column = 0; column < columns.column_count(); ++column)
        planes += padded_planes(columns.margin(column));
    return planes * plane_stride(columns.row_count());
}

/// Bytes of all columns' planes in one group of shuffles.
inline std::int64_t group_bytes(const CodedColumns& columns) {
    return arrangement_words(columns) * kLanes * 4;
}

/// Bytes of the differences of one group of shuffles.
constexpr std::int64_t difference_bytes(Index items) { return items * kLanes * 4; }

/// Bytes for this many pairs or triples of a tile, and shuffles, besides planes and differences.
constexpr std::int64_t item_bytes(Index items, Index shuffles) {
    return items * (8 + 48 + 16) + round_up(shuffles, kLanes) * 8;
}

/// Bytes for the CUDA runtime and the rounding of allocations.
constexpr std::int64_t kSpareBytes = std::int64_t{256} << 20;

/// Bytes of GPU memory that keep it busy with `shuffles` shuffles of all pairs (order 2), or also
/// of triples in tiles of kTileSide columns (order 3). The kernel uses more if that is free, and
/// works with less, down to one group of 32 shuffles.
inline std::int64_t memory_needed(const CodedColumns& columns, int order, Index shuffles) {
    constexpr Index kEnoughGroups = 64;
    const Index groups = std::min(word_count(std::max<Index>(shuffles, 1)), kEnoughGroups);
    Index items = pair_count(columns.column_count());
    // Order 3 also has planes of the alignment itself, sorted by each column i of a tile.
    std::int64_t observed_bytes = group_bytes(columns);
    if (order == 3) {
        const Index triples = triple_count(columns.column_count());
        items = std::max(items, std::min(triples, kTileSide * kTileSide * kTileSide));
        observed_bytes *= 6;
    }
    return groups * (group_bytes(columns) + difference_bytes(items)) + observed_bytes +
           item_bytes(items, shuffles) + 8 * (columns.row_count() + 1) + columns.codes.size() +
           kSpareBytes;
}

/// Minimum GPU memory in bytes: one group of shuffles at a time.
inline std::int64_t min_memory(const CodedColumns& columns, int order, Index shuffles) {
    return memory_needed(columns, order, std::min(shuffles, kLanes)) + 8 * shuffles;
}

}  // namespace pleat::mutual_information::cuda
