// Task tables: one row per lane, rectangles of pairs of equal work, and runs of scatterers of one
// channel.
#include "pleat/saxs/cuda/task_tables.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <span>
#include <utility>

namespace pleat::saxs::cuda {

namespace {

/// Columns of a task: few for few scatterers, so that the whole GPU has work; many for many
/// scatterers, so that there are few results of tasks.
Index column_count(Index scatterers, Index min_columns) {
    return kLanes * std::clamp<Index>(scatterers / 2048, min_columns, 32);
}

}  // namespace

TaskTable::TaskTable(const SortedScatterers& sorted, Index min_columns)
    : bodies(std::ssize(sorted.first_segment) - 1) {
    const Index max_columns = column_count(std::ssize(sorted.order), min_columns);
    const auto segments_of = [&](Index body) {
        return std::vector<TypeSegment>(sorted.segments.begin() + sorted.first_segment[body],
                                        sorted.segments.begin() + sorted.first_segment[body + 1]);
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
            const Index before = first.back(), count = std::ssize(tasks) - before;
            max_tasks = std::max(max_tasks, count);
            first.push_back(static_cast<std::int32_t>(tasks.size()));
        }
    }
}

namespace {

Index pairs_of(const Task& task) {
    const Index columns = task.columns;
    return task.same_segment != 0 ? columns * (columns - 1) / 2 : task.rows * columns;
}

struct PieceSize {
    Index rows, columns;
};

/// The smallest number of pieces with at most kLanes rows and about `wanted` pairs each.
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

struct Assignment {
    std::vector<std::vector<Task>> warps;
    Index longest = 0;
};
/// Assigns tasks in order of falling cost, each to the warp with the smallest load.
Assignment assign(std::vector<Task> tasks, Index warps) {
    std::ranges::stable_sort(tasks,
                             [](const Task& a, const Task& b) { return cost_of(a) > cost_of(b); });
    using Load = std::pair<Index, Index>;  // cost, warp
    std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
    for (Index warp = 0; warp < warps; ++warp) loads.push({0, warp});
    Assignment result{std::vector<std::vector<Task>>(warps), 0};
    for (const Task& task : tasks) {
        auto [load, warp] = loads.top();
        loads.pop();
        load += cost_of(task);
        result.warps[warp].push_back(task);
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
    : bodies(std::ssize(sorted.first_segment) - 1) {
    const auto segments_of = [&](Index body) {
        return std::span(sorted.segments)
            .subspan(static_cast<std::size_t>(sorted.first_segment[body]),
                     static_cast<std::size_t>(sorted.first_segment[body + 1] -
                                              sorted.first_segment[body]));
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

namespace {

/// Consecutive scatterers in sorted order, of one body, that scatter in a channel.
struct Run {
    std::int32_t channel = 0;
    Index first = 0, count = 0;

    Index end() const { return first + count; }
};

std::vector<Run> runs_of(const SortedScatterers& sorted, Index body,
                         const std::vector<unsigned>& channels_of_type) {
    std::vector<Run> runs;
    for (std::int32_t channel = 0; channel < 32; ++channel) {
        bool goes_on = false;
        for (Index n = sorted.first_segment[body]; n < sorted.first_segment[body + 1]; ++n) {
            const TypeSegment& segment = sorted.segments[n];
            const unsigned channels = channels_of_type[segment.type];
            const bool scatters = (channels >> channel & 1u) != 0;
            if (scatters && goes_on) runs.back().count += segment.count;
            if (scatters && !goes_on) runs.push_back({channel, segment.first, segment.count});
            goes_on = scatters;
        }
    }
    return runs;
}

Index parts_of(Index count, Index size) { return (count + size - 1) / size; }

/// Number of passes of warps over pairs; incomplete warps of rows cost as much as full ones.
Index passes_of(const Run& rows, const Run& columns) {
    return parts_of(rows.count, kLanes) * columns.count;
}

class ChainCutter {
public:
    ChainCutter(Index max_columns, std::vector<ChainTask>& to)
        : max_columns_(max_columns), to_(to) {}

    /// All pairs of two runs: equal parts of the columns for each warp of rows.
    void add(const Run& rows, const Run& columns) {
        for (Index row = rows.first; row < rows.end(); row += kLanes) {
            const Index count = std::min<Index>(kLanes, rows.end() - row);
            // Inside a run, each warp begins with its own rows; earlier warps did earlier rows.
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
    const auto bodies = std::ssize(sorted.first_segment) - 1;
    std::vector<std::vector<Run>> runs;
    for (Index body = 0; body < bodies; ++body)
        runs.push_back(runs_of(sorted, body, channels_of_type));
    for (const TypeSegment& segment : sorted.segments)
        for (Index n = 0; n < segment.count; ++n) {
            type_of.push_back(segment.type);
            segment_end.push_back(static_cast<std::int32_t>(segment.first + segment.count));
        }
    constexpr Index kMinColumns = 16, kWarpsToFill = 16;
    ChainCutter cutter(
        std::clamp(std::ssize(sorted.order) / kWarpsToFill, kMinColumns, max_columns), tasks);
    first_task.push_back(0);
    for (std::size_t a = 0; a < runs.size(); ++a)
        for (std::size_t b = a; b < runs.size(); ++b) {
            const std::size_t before = tasks.size();
            for (std::size_t i = 0; i < runs[a].size(); ++i)
                for (std::size_t j = a == b ? i : 0; j < runs[b].size(); ++j) {
                    const Run *rows = &runs[a][i], *columns = &runs[b][j];
                    if (passes_of(*columns, *rows) < passes_of(*rows, *columns))
                        std::swap(rows, columns);
                    cutter.add(*rows, *columns);
                }
            // The warps of a CTA finish together if their tasks are similar.
            std::stable_sort(tasks.begin() + static_cast<std::ptrdiff_t>(before), tasks.end(),
                             [](const ChainTask& one, const ChainTask& other) {
                                 return one.columns > other.columns;
                             });
            first_task.push_back(static_cast<std::int32_t>(tasks.size()));
        }
}

std::vector<double> fixed_point_units(const Model& model, int sum_bits) {
    std::vector<double> units;
    const auto amplitude = [&](Index channel, Index k) {
        double sum = 0.0;
        for (const std::int32_t type : model.types)
            sum += std::fabs(model.factors(channel, type, k));
        return sum;
    };
    for (Index a = 0; a < model.channel_count(); ++a)
        for (Index b = a; b < model.channel_count(); ++b)
            for (Index k = 0; k < model.q_count(); ++k) {
                const double bound = 2.0 * amplitude(a, k) * amplitude(b, k);
                const int bits = bound > 0.0 ? sum_bits - std::ilogb(bound) : 0;
                units.push_back(std::ldexp(1.0, std::min(bits, 1000)));
            }
    return units;
}

double unit_scale_of(View<const float, 3> scales) {
    float largest = 1.0f;
    for (const float scale : scales) largest = std::max(largest, std::fabs(scale));
    return largest > 1.0f ? std::ldexp(1.0, -2 * (std::ilogb(largest) + 1)) : 1.0;
}

}  // namespace pleat::saxs::cuda
