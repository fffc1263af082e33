// Chain table: the pairs of each two bodies cut into tasks of a warp, whose lanes have a row each.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/saxs/cuda/task_table.h"

namespace pleat::saxs::cuda {

/// Columns of a task at most; fewer of few scatterers or moves, which are soon done if many warps
/// share them.
inline constexpr Index kChainColumns = 64, kColumnsOfFewMoves = 32;

/// Scatterers of two channels: at most kLanes rows, one per lane, and columns of any types.
struct ChainTask {
    std::int32_t row, column;  ///< first scatterers, in sorted order
    std::int32_t rows, columns;
    std::int32_t row_channel, column_channel;
    /// Whether rows and columns overlap: the pairs are then those with row < column in one channel,
    /// and those with row != column in two.
    std::int32_t overlaps;
};

/// The same tasks whatever else is computed, so that sums have the same bits in every request.
/// Pairs of scatterers of several channels are in a task of each two channels.
struct ChainTable {
    /// `channels_of_type` [type]: bits of the channels in which it scatters.
    ChainTable(const SortedScatterers& sorted, const std::vector<unsigned>& channels_of_type,
               Index max_columns = kChainColumns);

    std::vector<ChainTask> tasks;
    std::vector<std::int32_t> first_task;   ///< [pair of bodies a <= b, and one]
    std::vector<std::int32_t> type_of;      ///< [sorted scatterer]
    std::vector<std::int32_t> segment_end;  ///< [sorted scatterer]: one past its segment
};

}  // namespace pleat::saxs::cuda
