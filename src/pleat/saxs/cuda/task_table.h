// Task table: the pairs of each two bodies cut into pieces for the warps of a GPU.
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
/// Numbers in the result of a task, of which the first kPassSums are used.
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

}  // namespace pleat::saxs::cuda
