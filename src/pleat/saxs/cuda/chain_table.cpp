// Chain table: rectangles of pairs cut into few tasks, put together until a warp has enough work.
#include "pleat/saxs/cuda/chain_table.h"

#include <algorithm>
#include <span>
#include <utility>

#include "pleat/saxs/cuda/call_table.h"

namespace pleat::saxs::cuda {

namespace {

/// Pairs of a task at most, for warps with equal work; each task costs as much as 2.5 pairs of each
/// lane.
constexpr Index kTaskPairs = 1536;

/// Calls use(first, count) for equal parts of at most `size` of a segment.
template <class Use>
void for_parts(const TypeSegment& segment, Index size, const Use& use) {
    const Index parts = (segment.count + size - 1) / size;
    for (Index n = 0; n < parts; ++n) {
        const Index first = n * segment.count / parts, last = (n + 1) * segment.count / parts;
        use(TypeSegment{segment.type, segment.first + first, last - first});
    }
}

class Tasks {
public:
    /// All pairs of two segments. The shorter one gives the rows, which are few.
    void add_rectangle(TypeSegment rows, TypeSegment columns) {
        if (rows.count > columns.count) std::swap(rows, columns);
        for_parts(rows, kLanes, [&](const TypeSegment& row) {
            for_parts(columns, std::max<Index>(kTaskPairs / row.count, kLanes),
                      [&](const TypeSegment& column) { add(row, column, false); });
        });
    }
    /// The pairs inside a segment: those inside parts, and of each part with what follows.
    void add_inner(const TypeSegment& segment) {
        const Index end = segment.first + segment.count;
        for_parts(segment, kLanes, [&](const TypeSegment& part) {
            if (part.count > 1) add(part, part, true);
            const Index after = part.first + part.count;
            if (after < end) add_rectangle(part, {segment.type, after, end - after});
        });
    }

    std::vector<Task> all;

private:
    void add(const TypeSegment& row, const TypeSegment& column, bool same_segment) {
        all.push_back(
            {static_cast<std::int32_t>(row.first), static_cast<std::int32_t>(column.first),
             static_cast<std::int32_t>(row.count), static_cast<std::int32_t>(column.count),
             row.type, column.type, same_segment ? 1 : 0});
    }
};

}  // namespace

ChainTable::ChainTable(const SortedScatterers& sorted)
    : bodies(static_cast<Index>(sorted.first_segment.size()) - 1) {
    const auto segments_of = [&](Index body) {
        const auto n = static_cast<std::size_t>(body);
        const auto first = static_cast<std::size_t>(sorted.first_segment[n]),
                   last = static_cast<std::size_t>(sorted.first_segment[n + 1]);
        return std::span(sorted.segments).subspan(first, last - first);
    };
    Tasks cut;
    first_task.push_back(0);
    first_chunk.push_back(0);
    for (Index a = 0; a < bodies; ++a)
        for (Index b = a; b < bodies; ++b) {
            const auto rows = segments_of(a), columns = segments_of(b);
            const std::size_t before = cut.all.size();
            for (std::size_t i = 0; i < rows.size(); ++i)
                for (std::size_t j = a == b ? i : 0; j < columns.size(); ++j) {
                    if (a == b && i == j)
                        cut.add_inner(rows[i]);
                    else
                        cut.add_rectangle(rows[i], columns[j]);
                }
            add_chunks(cut.all, before);
        }
    tasks = std::move(cut.all);
}

/// Divides the tasks of a pair of bodies, from `first` on, into chunks.
void ChainTable::add_chunks(const std::vector<Task>& all, std::size_t first) {
    // Instructions: many beside what a chunk costs by itself, few beside all of a move.
    constexpr Index kChunkCost = 4000;
    Index cost = 0;
    for (std::size_t n = first; n < all.size(); ++n) {
        const Index more = cost_of(all[n]);
        if (cost > 0 && cost + more > kChunkCost) {
            first_task.push_back(static_cast<std::int32_t>(n));
            cost = 0;
        }
        cost += more;
    }
    if (cost > 0) first_task.push_back(static_cast<std::int32_t>(all.size()));
    first_chunk.push_back(static_cast<std::int32_t>(first_task.size()) - 1);
}

}  // namespace pleat::saxs::cuda
