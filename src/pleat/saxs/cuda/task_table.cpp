// Task table: one row per lane, and more columns for larger systems.
#include "pleat/saxs/cuda/task_table.h"

#include <algorithm>

namespace pleat::saxs::cuda {

namespace {

/// Columns of a task: few for few scatterers, so that the whole GPU has work; many for many
/// scatterers, so that there are few results of tasks.
Index column_count(Index scatterers, Index min_columns) {
    return kLanes * std::clamp<Index>(scatterers / 2048, min_columns, 32);
}

}  // namespace

TaskTable::TaskTable(const SortedScatterers& sorted, Index min_columns)
    : bodies(static_cast<Index>(sorted.first_segment.size()) - 1) {
    const Index max_columns = column_count(static_cast<Index>(sorted.order.size()), min_columns);
    const auto segments_of = [&](Index body) {
        const auto n = static_cast<std::size_t>(body);
        return std::vector<TypeSegment>(sorted.segments.begin() + sorted.first_segment[n],
                                        sorted.segments.begin() + sorted.first_segment[n + 1]);
    };
    const auto add = [&](const TypeSegment& row, Index column, Index count, std::int32_t type,
                         bool same_segment) {
        tasks.push_back({static_cast<std::int32_t>(row.first), static_cast<std::int32_t>(column),
                         static_cast<std::int32_t>(row.count), static_cast<std::int32_t>(count),
                         row.type, type, same_segment ? 1 : 0});
    };
    first.push_back(0);
    for (Index a = 0; a < bodies; ++a) {
        const std::vector<TypeSegment> rows = split_segments(segments_of(a), kLanes);
        for (Index b = a; b < bodies; ++b) {
            const std::vector<TypeSegment> columns = segments_of(b);
            for (const TypeSegment& row : rows) {
                if (a == b && row.count > 1) add(row, row.first, row.count, row.type, true);
                for (const TypeSegment& segment : columns) {
                    const Index end = segment.first + segment.count;
                    // Inside a body, only the scatterers after this piece: each pair is counted
                    // once.
                    Index column =
                        a == b ? std::max(segment.first, row.first + row.count) : segment.first;
                    for (; column < end; column += max_columns)
                        add(row, column, std::min(max_columns, end - column), segment.type, false);
                }
            }
            const Index before = first.back(), count = static_cast<Index>(tasks.size()) - before;
            max_tasks = std::max(max_tasks, count);
            first.push_back(static_cast<std::int32_t>(tasks.size()));
        }
    }
}

}  // namespace pleat::saxs::cuda
