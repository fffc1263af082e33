// Call table: cuts rectangles of pairs into pieces of a wanted size, and deals them to slots.
#include "pleat/saxs/cuda/call_table.h"

#include <algorithm>
#include <queue>
#include <span>
#include <utility>

namespace pleat::saxs::cuda {

namespace {

Index pairs_of(const Task& task) {
    const Index columns = task.columns;
    return task.inner != 0 ? columns * (columns - 1) / 2 : task.rows * columns;
}

/// Rows of a piece and columns of a piece.
struct Cut {
    Index rows, columns;
};

/// Pieces of at most kLanes rows and about `wanted` pairs, as few as that takes.
Cut cut_of(Index rows, Index columns, Index wanted) {
    const Index pieces = std::max<Index>((rows * columns + wanted - 1) / wanted, 1);
    const Index fewest = (rows + kLanes - 1) / kLanes;
    Index best = fewest, least = -1;
    for (Index down = fewest; down <= std::min(std::max(pieces, fewest), rows); ++down) {
        const Index all = down * ((pieces + down - 1) / down);
        if (least < 0 || all < least) {
            least = all;
            best = down;
        }
    }
    const Index across = std::min((pieces + best - 1) / best, columns);
    return {(rows + best - 1) / best, (columns + across - 1) / across};
}

class Cutter {
public:
    Cutter(std::span<const Run> rows, std::span<const Run> columns, bool same_body)
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
    void add(const Run& row, const Run& column, bool inner) {
        tasks_.push_back(
            {static_cast<std::int32_t>(row.first), static_cast<std::int32_t>(column.first),
             static_cast<std::int32_t>(row.count), static_cast<std::int32_t>(column.count),
             row.type, column.type, inner ? 1 : 0});
    }
    static Run part(const Run& run, Index first, Index count) {
        return {run.type, run.first + first, std::min(count, run.count - first)};
    }

    void cut_rectangle(const Run& row, const Run& column, Index wanted) {
        const Cut cut = cut_of(row.count, column.count, wanted);
        for (Index i = 0; i < row.count; i += cut.rows)
            for (Index j = 0; j < column.count; j += cut.columns)
                add(part(row, i, cut.rows), part(column, j, cut.columns), false);
    }

    /// Pairs inside a run: those inside pieces of equal size, and each piece with what comes after
    /// it.
    void cut_inner(const Run& run, Index wanted) {
        const Index pieces = (run.count + kLanes - 1) / kLanes;
        const Index size = (run.count + pieces - 1) / std::max<Index>(pieces, 1);
        for (Index i = 0; i < run.count; i += size) {
            const Run piece = part(run, i, size);
            if (piece.count > 1) add(piece, piece, true);
            const Index after = i + piece.count;
            if (after < run.count) cut_rectangle(piece, part(run, after, run.count), wanted);
        }
    }

    std::span<const Run> rows_, columns_;
    bool same_body_;
    std::vector<Task> tasks_;
};

/// Tasks of each slot, the longest first to whoever has least.
struct Deal {
    std::vector<std::vector<Task>> slots;
    Index longest = 0;
};
Deal deal(std::vector<Task> tasks, Index slots) {
    std::stable_sort(tasks.begin(), tasks.end(),
                     [](const Task& a, const Task& b) { return cost_of(a) > cost_of(b); });
    using Load = std::pair<Index, Index>;  // cost, slot
    std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
    for (Index slot = 0; slot < slots; ++slot) loads.push({0, slot});
    Deal result{std::vector<std::vector<Task>>(static_cast<std::size_t>(slots)), 0};
    for (const Task& task : tasks) {
        auto [load, slot] = loads.top();
        loads.pop();
        load += cost_of(task);
        result.slots[static_cast<std::size_t>(slot)].push_back(task);
        result.longest = std::max(result.longest, load);
        loads.push({load, slot});
    }
    return result;
}

/// The best of some sizes of tasks. `rectangles`: pairs of runs, each of which is a task at least.
Deal best_deal(Cutter& cutter, Index pairs, Index rectangles, Index most_slots) {
    // Less work than this is not worth a warp; more pairs than this lose digits in a lane's sums,
    // and far fewer of them than a slot gets are dealt evenly without a search.
    constexpr Index kLeastCost = 1500, kMostPairs = kLanes * 512;
    constexpr Index kTries = 24;
    const Index cost = rectangles * kTaskCost + pairs * kPairCost / kLanes;
    const Index worth = (cost / kLeastCost + kCallWarps) / kCallWarps * kCallWarps;
    const Index slots = std::min(worth, most_slots);
    Deal best;
    for (Index n = 0; n < kTries; ++n) {
        // From half of what a slot gets to 31 sixteenths.
        const Index even = pairs * (n + 8) / (16 * slots);
        const Index wanted = std::clamp<Index>(even, kLanes, kMostPairs);
        Deal found = deal(cutter.cut(wanted), slots);
        if (n == 0 || found.longest < best.longest) best = std::move(found);
        if (wanted >= pairs || wanted == kMostPairs || slots <= kCallWarps) break;
    }
    return best;
}

}  // namespace

Index cost_of(const Task& task) {
    return kTaskCost + kPairCost * ((pairs_of(task) + kLanes - 1) / kLanes);
}

CallTable::CallTable(const Runs& runs, Index most_slots)
    : bodies(static_cast<Index>(runs.first_run.size()) - 1) {
    const auto runs_of = [&](Index body) {
        const auto n = static_cast<std::size_t>(body);
        return std::span(runs.runs).subspan(
            static_cast<std::size_t>(runs.first_run[n]),
            static_cast<std::size_t>(runs.first_run[n + 1] - runs.first_run[n]));
    };
    const auto size_of = [](std::span<const Run> of) {
        Index size = 0;
        for (const Run& run : of) size += run.count;
        return size;
    };
    first_slot.push_back(0);
    first_task.push_back(0);
    for (Index a = 0; a < bodies; ++a) {
        for (Index b = a; b < bodies; ++b) {
            Cutter cutter(runs_of(a), runs_of(b), a == b);
            const Index pairs = size_of(runs_of(a)) * size_of(runs_of(b)) / (a == b ? 2 : 1);
            const Deal best =
                best_deal(cutter, pairs, static_cast<Index>(runs_of(a).size() * runs_of(b).size()),
                          most_slots);
            for (const std::vector<Task>& slot : best.slots) {
                if (slot.empty()) continue;
                tasks.insert(tasks.end(), slot.begin(), slot.end());
                first_task.push_back(static_cast<std::int32_t>(tasks.size()));
            }
            first_slot.push_back(static_cast<std::int32_t>(first_task.size()) - 1);
        }
    }
}

}  // namespace pleat::saxs::cuda
