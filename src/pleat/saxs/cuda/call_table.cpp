// Call table: cuts rectangles of pairs into pieces of a wanted size, and divides them among warps.
#include "pleat/saxs/cuda/call_table.h"

#include <algorithm>
#include <queue>
#include <span>
#include <utility>

namespace pleat::saxs::cuda {

namespace {

Index pairs_of(const Task& task) {
    const Index columns = task.columns;
    return task.same_segment != 0 ? columns * (columns - 1) / 2 : task.rows * columns;
}

/// Rows and columns of a piece.
struct PieceSize {
    Index rows, columns;
};

/// The fewest pieces of at most kLanes rows and about `wanted` pairs.
PieceSize piece_size(Index rows, Index columns, Index wanted) {
    const Index pieces = std::max<Index>((rows * columns + wanted - 1) / wanted, 1);
    const Index fewest = (rows + kLanes - 1) / kLanes;
    Index best = fewest, smallest = -1;
    for (Index down = fewest; down <= std::min(std::max(pieces, fewest), rows); ++down) {
        const Index all = down * ((pieces + down - 1) / down);
        if (smallest < 0 || all < smallest) {
            smallest = all;
            best = down;
        }
    }
    const Index across = std::min((pieces + best - 1) / best, columns);
    return {(rows + best - 1) / best, (columns + across - 1) / across};
}

class Cutter {
public:
    Cutter(std::span<const TypeSegment> rows, std::span<const TypeSegment> columns, bool same_body)
        : rows_(rows), columns_(columns), same_body_(same_body) {}

    std::vector<Task> cut(Index wanted) {
        tasks_.clear();
        for (std::size_t i = 0; i < rows_.size(); ++i)
            for (std::size_t j = same_body_ ? i : 0; j < columns_.size(); ++j) {
                if (same_body_ && i == j)
                    cut_inner(rows_[i], wanted);
                else
                    cut_rectangle(rows_[i], columns_[j], wanted);
            }
        return std::move(tasks_);
    }

private:
    void add(const TypeSegment& row, const TypeSegment& column, bool same_segment) {
        tasks_.push_back(
            {static_cast<std::int32_t>(row.first), static_cast<std::int32_t>(column.first),
             static_cast<std::int32_t>(row.count), static_cast<std::int32_t>(column.count),
             row.type, column.type, same_segment ? 1 : 0});
    }
    static TypeSegment cut_segment(const TypeSegment& segment, Index first, Index count) {
        return {segment.type, segment.first + first, std::min(count, segment.count - first)};
    }

    void cut_rectangle(const TypeSegment& row, const TypeSegment& column, Index wanted) {
        const PieceSize piece = piece_size(row.count, column.count, wanted);
        for (Index i = 0; i < row.count; i += piece.rows)
            for (Index j = 0; j < column.count; j += piece.columns)
                add(cut_segment(row, i, piece.rows), cut_segment(column, j, piece.columns), false);
    }

    /// Cuts the pairs inside a segment: pairs inside pieces of equal size, and pairs of each piece
    /// with later scatterers.
    void cut_inner(const TypeSegment& segment, Index wanted) {
        const Index pieces = (segment.count + kLanes - 1) / kLanes;
        const Index size = (segment.count + pieces - 1) / std::max<Index>(pieces, 1);
        for (Index i = 0; i < segment.count; i += size) {
            const TypeSegment piece = cut_segment(segment, i, size);
            if (piece.count > 1) add(piece, piece, true);
            const Index after = i + piece.count;
            if (after < segment.count)
                cut_rectangle(piece, cut_segment(segment, after, segment.count), wanted);
        }
    }

    std::span<const TypeSegment> rows_, columns_;
    bool same_body_;
    std::vector<Task> tasks_;
};

/// The tasks of each warp.
struct Assignment {
    std::vector<std::vector<Task>> warps;
    Index longest = 0;
};
/// Assigns the tasks, the costliest first, each to the warp with the smallest load.
Assignment assign(std::vector<Task> tasks, Index warps) {
    std::stable_sort(tasks.begin(), tasks.end(),
                     [](const Task& a, const Task& b) { return cost_of(a) > cost_of(b); });
    using Load = std::pair<Index, Index>;  // cost, warp
    std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
    for (Index warp = 0; warp < warps; ++warp) loads.push({0, warp});
    Assignment result{std::vector<std::vector<Task>>(static_cast<std::size_t>(warps)), 0};
    for (const Task& task : tasks) {
        auto [load, warp] = loads.top();
        loads.pop();
        load += cost_of(task);
        result.warps[static_cast<std::size_t>(warp)].push_back(task);
        result.longest = std::max(result.longest, load);
        loads.push({load, warp});
    }
    return result;
}

/// The best assignment over some sizes of tasks. `rectangles`: pairs of segments, each of which is
/// at least one task.
Assignment best_assignment(Cutter& cutter, Index pairs, Index rectangles, Index max_warps) {
    // A task below kMinCost does not pay for its warp; with more than kMaxPairs pairs, rounding
    // errors of a lane's float sums grow too large. If each warp must process many more pairs than
    // that, the task size hardly matters.
    constexpr Index kMinCost = 1500, kMaxPairs = kLanes * 512;
    constexpr Index kTries = 24;
    const Index cost = rectangles * kTaskCost + pairs * kPairCost / kLanes;
    const Index worth = (cost / kMinCost + kCallWarps) / kCallWarps * kCallWarps;
    const Index warps = std::min(worth, max_warps);
    Assignment best;
    for (Index n = 0; n < kTries; ++n) {
        // Tries task sizes from 8/16 to 31/16 of the mean number of pairs per warp.
        const Index even = pairs * (n + 8) / (16 * warps);
        const Index wanted = std::clamp<Index>(even, kLanes, kMaxPairs);
        Assignment tried = assign(cutter.cut(wanted), warps);
        if (n == 0 || tried.longest < best.longest) best = std::move(tried);
        if (wanted >= pairs || wanted == kMaxPairs || warps <= kCallWarps) break;
    }
    return best;
}

}  // namespace

Index cost_of(const Task& task) {
    return kTaskCost + kPairCost * ((pairs_of(task) + kLanes - 1) / kLanes);
}

CallTable::CallTable(const SortedScatterers& sorted, Index max_warps)
    : bodies(static_cast<Index>(sorted.first_segment.size()) - 1) {
    const auto segments_of = [&](Index body) {
        const auto n = static_cast<std::size_t>(body);
        return std::span(sorted.segments)
            .subspan(
                static_cast<std::size_t>(sorted.first_segment[n]),
                static_cast<std::size_t>(sorted.first_segment[n + 1] - sorted.first_segment[n]));
    };
    const auto size_of = [](std::span<const TypeSegment> of) {
        Index size = 0;
        for (const TypeSegment& segment : of) size += segment.count;
        return size;
    };
    first_warp.push_back(0);
    first_task.push_back(0);
    for (Index a = 0; a < bodies; ++a) {
        for (Index b = a; b < bodies; ++b) {
            Cutter cutter(segments_of(a), segments_of(b), a == b);
            const Index pairs =
                size_of(segments_of(a)) * size_of(segments_of(b)) / (a == b ? 2 : 1);
            const Assignment best = best_assignment(
                cutter, pairs, static_cast<Index>(segments_of(a).size() * segments_of(b).size()),
                max_warps);
            for (const std::vector<Task>& warp : best.warps) {
                if (warp.empty()) continue;
                tasks.insert(tasks.end(), warp.begin(), warp.end());
                first_task.push_back(static_cast<std::int32_t>(tasks.size()));
            }
            first_warp.push_back(static_cast<std::int32_t>(first_task.size()) - 1);
        }
    }
}

}  // namespace pleat::saxs::cuda
