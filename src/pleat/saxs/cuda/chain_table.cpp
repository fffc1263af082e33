// Chain table: tasks of at most 32 rows and columns, put together until a warp has enough work.
#include "pleat/saxs/cuda/chain_table.h"

#include <utility>

#include "pleat/saxs/cuda/call_table.h"

namespace pleat::saxs::cuda {

ChainTable::ChainTable(const SortedScatterers& sorted) {
    // Instructions of a chunk: many beside what a chunk costs by itself, few beside all of a move.
    constexpr Index kChunkCost = 4000;
    TaskTable table(sorted);
    bodies = table.bodies;
    first_task.push_back(0);
    first_chunk.push_back(0);
    for (std::size_t pair = 0; pair + 1 < table.first.size(); ++pair) {
        Index cost = 0;
        for (std::int32_t n = table.first[pair]; n < table.first[pair + 1]; ++n) {
            const Index more = cost_of(table.tasks[static_cast<std::size_t>(n)]);
            if (cost > 0 && cost + more > kChunkCost) {
                first_task.push_back(n);
                cost = 0;
            }
            cost += more;
        }
        if (cost > 0) first_task.push_back(table.first[pair + 1]);
        first_chunk.push_back(static_cast<std::int32_t>(first_task.size()) - 1);
    }
    tasks = std::move(table.tasks);
}

}  // namespace pleat::saxs::cuda
