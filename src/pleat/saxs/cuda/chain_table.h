// Chain table: the pairs of each two bodies cut into chunks of tasks, one per warp.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/saxs/cuda/task_table.h"

namespace pleat::saxs::cuda {

/// The same chunks whatever else a call computes, so that sums have the same bits in every call.
struct ChainTable {
    explicit ChainTable(const SortedScatterers& sorted);

    std::vector<Task> tasks;                ///< grouped by chunk
    std::vector<std::int32_t> first_task;   ///< [chunk, and one]
    std::vector<std::int32_t> first_chunk;  ///< [pair of bodies a <= b, and one]
    Index bodies = 0;

private:
    void add_chunks(const std::vector<Task>& all, std::size_t first);
};

}  // namespace pleat::saxs::cuda
