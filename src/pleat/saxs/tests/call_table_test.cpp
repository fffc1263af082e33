// The call table: every pair of scatterers is in one task, and warps have equal work.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "pleat/saxs/cuda/task_tables.h"
#include "random_model.h"

namespace pleat::saxs {
namespace {

using cuda::CallTable;
using cuda::Task;

SortedScatterers sorted_scatterers(Index scatterers, Index types, Index bodies) {
    Model model = test::random_scatterers({.scatterers = scatterers, .types = types}).model;
    std::vector<std::int32_t> body;
    for (Index i = 0; i < scatterers; ++i)
        body.push_back(static_cast<std::int32_t>(i * bodies / scatterers));
    return sort_by_body(model, body, bodies);
}

/// Counts the pairs of scatterers in a task.
void meet(const Task& task, std::vector<std::vector<int>>& met) {
    for (int i = 0; i < task.rows; ++i)
        for (int j = task.same_segment != 0 ? i + 1 : 0; j < task.columns; ++j) {
            const auto a = static_cast<std::size_t>(task.row) + static_cast<std::size_t>(i);
            const auto b = static_cast<std::size_t>(task.column) + static_cast<std::size_t>(j);
            ++met[std::min(a, b)][std::max(a, b)];
        }
}

// Types scatter in one channel or in both.
TEST(ChainTable, HasEveryPairOfEachTwoChannelsOnceAndFitsAWarp) {
    for (const auto& [scatterers, types, bodies] :
         {std::array<Index, 3>{1, 1, 1}, {2, 1, 2}, {65, 1, 1}, {200, 21, 3}, {900, 2, 2}}) {
        SCOPED_TRACE(std::to_string(scatterers) + " scatterers, " + std::to_string(bodies) +
                     " bodies");
        const SortedScatterers sorted = sorted_scatterers(scatterers, types, bodies);
        std::vector<unsigned> channels;
        for (Index type = 0; type < types; ++type)
            channels.push_back(static_cast<unsigned>(type % 3) + 1);
        const Index max_columns = scatterers == 900 ? 32 : cuda::kChainColumns;
        const cuda::ChainTable table(sorted, channels, max_columns);
        const auto count = static_cast<std::size_t>(scatterers);
        // [channel and scatterer, channel and scatterer]
        std::vector<std::vector<int>> met(2 * count, std::vector<int>(2 * count));
        for (const cuda::ChainTask& task : table.tasks) {
            EXPECT_LE(task.rows, cuda::kLanes);
            EXPECT_LE(task.columns, max_columns);
            const bool is_ordered = task.row_channel == task.column_channel;
            for (int i = task.row; i < task.row + task.rows; ++i)
                for (int j = task.column; j < task.column + task.columns; ++j) {
                    if (task.overlaps != 0 && (is_ordered ? j <= i : j == i)) continue;
                    const auto a = static_cast<std::size_t>(task.row_channel) * count +
                                   static_cast<std::size_t>(i);
                    const auto b = static_cast<std::size_t>(task.column_channel) * count +
                                   static_cast<std::size_t>(j);
                    ++met[std::min(a, b)][std::max(a, b)];
                }
        }
        const auto scatters = [&](std::size_t n) {
            return channels[static_cast<std::size_t>(table.type_of[n % count])] >> n / count & 1u;
        };
        for (std::size_t a = 0; a < met.size(); ++a)
            for (std::size_t b = 0; b < met.size(); ++b)
                ASSERT_EQ(met[a][b], a < b && a % count != b % count && scatters(a) && scatters(b))
                    << a << ' ' << b;
        ASSERT_EQ(static_cast<Index>(table.first_task.size()), bodies * (bodies + 1) / 2 + 1);
        EXPECT_EQ(table.first_task.back(), static_cast<std::int32_t>(table.tasks.size()));
        EXPECT_TRUE(std::is_sorted(table.first_task.begin(), table.first_task.end()));
    }
}

TEST(CallTable, HasEveryPairOnceAndFitsAWarp) {
    for (const auto& [scatterers, types, bodies, warps] : {std::array<Index, 4>{1, 1, 1, 2112},
                                                           {2, 1, 1, 16},
                                                           {65, 1, 1, 2112},
                                                           {200, 21, 1, 2112},
                                                           {400, 3, 3, 64},
                                                           {300, 7, 2, 2112},
                                                           {500, 1, 1, 16}}) {
        SCOPED_TRACE(std::to_string(scatterers) + " scatterers, " + std::to_string(bodies) +
                     " bodies");
        const SortedScatterers sorted = sorted_scatterers(scatterers, types, bodies);
        const CallTable table(sorted, warps);
        std::vector<std::vector<int>> met(static_cast<std::size_t>(scatterers),
                                          std::vector<int>(static_cast<std::size_t>(scatterers)));
        for (const Task& task : table.tasks) {
            EXPECT_LE(task.rows, cuda::kLanes);
            EXPECT_GE(task.columns, 1);
            meet(task, met);
        }
        for (std::size_t a = 0; a < met.size(); ++a)
            for (std::size_t b = 0; b < met.size(); ++b)
                ASSERT_EQ(met[a][b], a < b) << a << ' ' << b;
        for (std::size_t pair = 0; pair + 1 < table.first_warp.size(); ++pair)
            EXPECT_LE(table.first_warp[pair + 1] - table.first_warp[pair], warps);
        EXPECT_EQ(table.first_task.back(), static_cast<std::int32_t>(table.tasks.size()));
        EXPECT_EQ(table.first_warp.back() + 1, static_cast<std::int32_t>(table.first_task.size()));
    }
}

TEST(CallTable, DealsEqualWork) {
    // 1888 beads of 21 types as one body, and as two, on 132 multiprocessors.
    for (const Index bodies : {1, 2}) {
        const CallTable table(sorted_scatterers(1888, 21, bodies), 132 * cuda::kCallWarps);
        for (std::size_t pair = 0; pair + 1 < table.first_warp.size(); ++pair) {
            Index largest = 0, all = 0;
            const std::int32_t first = table.first_warp[pair], last = table.first_warp[pair + 1];
            for (std::int32_t warp = first; warp < last; ++warp) {
                Index cost = 0;
                for (std::int32_t n = table.first_task[static_cast<std::size_t>(warp)];
                     n < table.first_task[static_cast<std::size_t>(warp) + 1]; ++n)
                    cost += cuda::cost_of(table.tasks[static_cast<std::size_t>(n)]);
                largest = std::max(largest, cost);
                all += cost;
            }
            EXPECT_LT(static_cast<double>(largest), 1.3 * static_cast<double>(all) / (last - first))
                << bodies << " bodies, " << last - first << " warps";
        }
    }
}

}  // namespace
}  // namespace pleat::saxs
