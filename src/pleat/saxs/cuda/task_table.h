// Task table: the pairs of every two bodies cut into pieces for the warps of a GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/saxs/debye/sorted_scatterers.h"
#include "pleat/saxs/debye/sine_grid.h"

namespace pleat::saxs::cuda {

/// Lanes that share a task.
inline constexpr int kLanes = 32;
/// Centres of q whose sums a lane holds in registers, and the values of q of such a pass.
inline constexpr int kCentres = 3;
inline constexpr int kPassSums = kCentres * kSpan;
/// Floats that a task leaves, of which kPassSums mean something.
inline constexpr int kTaskSums = 52;

/// Pairs of a piece of a run and columns of a run: of the same piece where `inner`.
struct Task {
    std::int32_t row, column;  ///< first slots
    std::int32_t rows, columns;
    std::int32_t row_type, column_type, inner;
};

/// A pass of q: turns an angstrom of its step and of its first centre's q, and, where q are not
/// even, of each of its kPassSums values.
struct Pass {
    Split<float> step, start;
    const Split<float>* turns;
};

struct TaskTable {
    /// Tasks of at least `fewest` times kLanes columns, where runs have as many.
    explicit TaskTable(const SortedScatterers& sorted, Index fewest = 1);

    std::vector<Task> tasks;
    std::vector<std::int32_t> first;  ///< [pair of bodies a <= b, and one]
    Index bodies = 0;
    Index max_tasks = 0;  ///< tasks of one pair of bodies
};

}  // namespace pleat::saxs::cuda
