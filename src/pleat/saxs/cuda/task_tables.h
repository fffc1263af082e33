// Task tables: pairs of scatterers cut into tasks of warps, for bulk calls, small calls and the
// moves of chains.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/saxs/debye/sine_grid.h"
#include "pleat/saxs/debye/sorted_scatterers.h"

namespace pleat::saxs::cuda {

/// Lanes that share a task.
inline constexpr int kLanes = 32;
/// Centres of q whose sums a lane keeps in registers, and the values of q of such a pass.
inline constexpr int kCentres = 3;
inline constexpr int kPassSums = kCentres * kOffsetCount;
/// Numbers per task result; only the first kPassSums are used.
inline constexpr int kTaskSums = 52;

/// The pairs of a piece of a segment and columns of a segment; if `same_segment`, the pairs inside
/// the piece.
struct Task {
    std::int32_t row, column;  ///< first scatterers, in sorted order
    std::int32_t rows, columns;
    std::int32_t row_type, column_type, same_segment;
};

/// A pass over kPassSums values of q, in turns per angstrom: its step and its first centre and, if
/// q are not evenly spaced, each value.
template <class Real>
struct Pass {
    SplitNumber<Real> step, start;
    const SplitNumber<Real>* turns;
};

struct TaskTable {
    /// Makes tasks of at least `min_columns` times kLanes columns if segments have as many.
    explicit TaskTable(const SortedScatterers& sorted, Index min_columns = 1);

    std::vector<Task> tasks;
    std::vector<std::int32_t> first;  ///< [pair of bodies a <= b, and one]
    Index bodies = 0;
    Index max_tasks = 0;  ///< tasks of one pair of bodies
};

/// Warps per CTA of a small call.
inline constexpr int kCallWarps = 16;

/// Instructions per task, and per kLanes pairs; counted by a profiler.
inline constexpr Index kTaskCost = 400, kPairCost = 163;

/// The cost of a task in instructions.
Index cost_of(const Task& task);

/// Tasks divided among warps: at most `max_warps` per pair of bodies, and fewer if there is too
/// little work.
struct CallTable {
    CallTable(const SortedScatterers& sorted, Index max_warps);

    std::vector<Task> tasks;               ///< grouped by warp
    std::vector<std::int32_t> first_warp;  ///< [pair of bodies a <= b, and one]
    std::vector<std::int32_t> first_task;  ///< [warp, and one]
    Index bodies = 0;
};

/// Maximum columns per task.
inline constexpr Index kChainColumns = 64;

/// Scatterers of two channels: at most kLanes rows, one per lane, and columns of any types.
struct ChainTask {
    std::int32_t row, column;  ///< first scatterers, in sorted order
    std::int32_t rows, columns;
    std::int32_t row_channel, column_channel;
    /// Whether rows and columns overlap; pairs are then those with row < column for one channel,
    /// row != column for two channels.
    std::int32_t overlaps;
};

/// The tasks of a chain. They do not depend on other work, so that sums have the same bits in every
/// request. Pairs of scatterers in several channels are in one task per two channels.
struct ChainTable {
    /// `channels_of_type` [type]: bits of the channels in which it scatters.
    ChainTable(const SortedScatterers& sorted, const std::vector<unsigned>& channels_of_type,
               Index max_columns = kChainColumns);

    std::vector<ChainTask> tasks;
    std::vector<std::int32_t> first_task;   ///< [pair of bodies a <= b, and one]
    std::vector<std::int32_t> type_of;      ///< [sorted scatterer]
    std::vector<std::int32_t> segment_end;  ///< [sorted scatterer]: one past its segment
};

/// [channel pair, q]: units, in square electrons, such that sums over a whole system as integers in
/// these units have at most `sum_bits` bits, since |sin(x) / x| <= 1. Units are powers of two, so
/// that division is exact.
std::vector<double> fixed_point_units(const Model& model, int sum_bits);
/// The factor of these units for scales [chain or set, channel with scales, scatterer] above 1.
double unit_scale_of(View<const float, 3> scales);

}  // namespace pleat::saxs::cuda
