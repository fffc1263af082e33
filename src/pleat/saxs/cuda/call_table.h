// Call table: the pairs of each two bodies cut into tasks of a small GPU call, with equal work per
// warp.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/saxs/cuda/task_table.h"

namespace pleat::saxs::cuda {

/// Warps per CTA of a small call.
inline constexpr int kCallWarps = 16;

/// Instructions of a task besides its pairs, and per kLanes pairs: counted by a profiler.
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

}  // namespace pleat::saxs::cuda
