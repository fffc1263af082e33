// Chain table: runs of scatterers of one channel, and rectangles of two runs.
#include "pleat/saxs/cuda/chain_table.h"

#include <algorithm>
#include <utility>

namespace pleat::saxs::cuda {

namespace {

/// Neighbours in sorted order, of one body, that scatter in a channel.
struct Run {
    std::int32_t channel = 0;
    Index first = 0, count = 0;

    Index end() const { return first + count; }
};

/// The runs of a body.
std::vector<Run> runs_of(const SortedScatterers& sorted, Index body,
                         const std::vector<unsigned>& channels_of_type) {
    std::vector<Run> runs;
    for (std::int32_t channel = 0; channel < 32; ++channel) {
        bool goes_on = false;
        for (Index n = sorted.first_segment[static_cast<std::size_t>(body)];
             n < sorted.first_segment[static_cast<std::size_t>(body) + 1]; ++n) {
            const TypeSegment& segment = sorted.segments[static_cast<std::size_t>(n)];
            const unsigned channels = channels_of_type[static_cast<std::size_t>(segment.type)];
            const bool scatters = (channels >> channel & 1u) != 0;
            if (scatters && goes_on) runs.back().count += segment.count;
            if (scatters && !goes_on) runs.push_back({channel, segment.first, segment.count});
            goes_on = scatters;
        }
    }
    return runs;
}

Index parts_of(Index count, Index size) { return (count + size - 1) / size; }

/// Warps' passes over pairs: rows that fill no warp cost as if they did.
Index cost_of(const Run& rows, const Run& columns) {
    return parts_of(rows.count, kLanes) * columns.count;
}

class Cutter {
public:
    Cutter(Index max_columns, std::vector<ChainTask>& to) : max_columns_(max_columns), to_(to) {}

    /// All pairs of two runs: equal parts of the columns for each warp of rows.
    void add(const Run& rows, const Run& columns) {
        for (Index row = rows.first; row < rows.end(); row += kLanes) {
            const Index count = std::min<Index>(kLanes, rows.end() - row);
            // Inside a run, each warp begins with its own rows: those before have had it.
            const bool is_inside = rows.first == columns.first && rows.channel == columns.channel;
            const Index first = is_inside ? row : columns.first, left = columns.end() - first,
                        parts = parts_of(left, max_columns_);
            for (Index n = 0; n < parts; ++n) {
                const Index from = first + n * left / parts, to = first + (n + 1) * left / parts;
                const bool overlaps = from < row + count && row < to;
                to_.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(from),
                               static_cast<std::int32_t>(count),
                               static_cast<std::int32_t>(to - from), rows.channel, columns.channel,
                               overlaps ? 1 : 0});
            }
        }
    }

private:
    Index max_columns_;
    std::vector<ChainTask>& to_;
};

}  // namespace

ChainTable::ChainTable(const SortedScatterers& sorted,
                       const std::vector<unsigned>& channels_of_type, Index max_columns) {
    const auto bodies = static_cast<Index>(sorted.first_segment.size()) - 1;
    std::vector<std::vector<Run>> runs;
    for (Index body = 0; body < bodies; ++body)
        runs.push_back(runs_of(sorted, body, channels_of_type));
    for (const TypeSegment& segment : sorted.segments)
        for (Index n = 0; n < segment.count; ++n) {
            type_of.push_back(segment.type);
            segment_end.push_back(static_cast<std::int32_t>(segment.first + segment.count));
        }
    constexpr Index kMinColumns = 16, kWarpsToFill = 16;
    Cutter cutter(std::clamp(static_cast<Index>(sorted.order.size()) / kWarpsToFill, kMinColumns,
                             max_columns),
                  tasks);
    first_task.push_back(0);
    for (std::size_t a = 0; a < runs.size(); ++a)
        for (std::size_t b = a; b < runs.size(); ++b) {
            const std::size_t before = tasks.size();
            for (std::size_t i = 0; i < runs[a].size(); ++i)
                for (std::size_t j = a == b ? i : 0; j < runs[b].size(); ++j) {
                    const Run *rows = &runs[a][i], *columns = &runs[b][j];
                    if (cost_of(*columns, *rows) < cost_of(*rows, *columns))
                        std::swap(rows, columns);
                    cutter.add(*rows, *columns);
                }
            // The warps of a CTA end together if their tasks are alike.
            std::stable_sort(tasks.begin() + static_cast<std::ptrdiff_t>(before), tasks.end(),
                             [](const ChainTask& one, const ChainTask& other) {
                                 return one.columns > other.columns;
                             });
            first_task.push_back(static_cast<std::int32_t>(tasks.size()));
        }
}

}  // namespace pleat::saxs::cuda
