// Call table: the pairs of every two bodies cut for one call of a GPU, in equal work a warp.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/saxs/cuda/task_table.h"

namespace pleat::saxs::cuda {

/// Warps of a CTA of a small call, each of which does the tasks of a slot.
inline constexpr int kCallWarps = 16;

/// Instructions that a task takes beside its pairs, and for every kLanes pairs: counted by a
/// profiler.
inline constexpr Index kTaskCost = 400, kPairCost = 163;

/// What a task costs.
Index cost_of(const Task& task);

/// Tasks dealt to slots, of which a pair of bodies has at most `most_slots`, and no more than there
/// is work for.
struct CallTable {
    CallTable(const SortedScatterers& sorted, Index max_warps);

    std::vector<Task> tasks;               ///< by slot
    std::vector<std::int32_t> first_warp;  ///< [pair of bodies a <= b, and one]
    std::vector<std::int32_t> first_task;  ///< [slot, and one]
    Index bodies = 0;
};

}  // namespace pleat::saxs::cuda
