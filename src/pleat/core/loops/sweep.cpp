// Sweep: dealing out tiles, computing them, agreeing on when to stop.
#include "pleat/core/loops/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

using Tiles = std::deque<const Tile*>;

Index cost_of(const Tile& tile) {
    return std::max<Index>(tile.cost > 0 ? tile.cost : tile.items * tile.values, 1);
}

/// The tiles that are not done; for several ranks by falling cost.
Tiles missing_tiles(std::span<const Tile> tiles, const TileWork& work, int ranks) {
    Tiles missing;
    for (const Tile& tile : tiles)
        if (!work.is_done || !work.is_done(tile)) missing.push_back(&tile);
    if (ranks > 1)
        std::ranges::stable_sort(
            missing, [](const Tile* a, const Tile* b) { return cost_of(*a) > cost_of(*b); });
    return missing;
}

/// Removes the tiles of a round, [rank], from the front of the remaining tiles, in a time that does
/// not depend on their number. No rank's tiles together cost more than the first tile; a single
/// rank gets only that tile.
std::vector<Tiles> take_round(Tiles& left, int ranks) {
    constexpr std::size_t kLookedAt = 32;  // for each rank
    const auto size = static_cast<std::size_t>(ranks);
    const std::size_t last = std::min(left.size(), ranks == 1 ? 1 : size * kLookedAt);
    const Index max_cost = cost_of(*left.front());
    std::vector<Tiles> round(size);
    std::vector<Index> costs(size);
    Tiles later;
    for (std::size_t n = 0; n < last; ++n) {
        const Tile* const tile = left.front();
        left.pop_front();
        const auto rank = static_cast<std::size_t>(std::ranges::min_element(costs) - costs.begin());
        if (!round[rank].empty() && costs[rank] + cost_of(*tile) > max_cost) {
            later.push_back(tile);
            continue;
        }
        round[rank].push_back(tile);
        costs[rank] += cost_of(*tile);
    }
    left.insert(left.begin(), later.begin(), later.end());
    return round;
}

/// Returns false if the user stopped the run within the tile, which is then not kept.
bool compute_tile(const Tile& tile, const TileWork& work) {
    try {
        work.compute(tile);
    } catch (const Cancelled&) {
        return false;  // the message about kept tiles follows when all ranks have stopped
    }
    return true;
}

void flush(const TileWork& work) {
    if (work.flush) work.flush();
}

/// Throws on every rank if any has an error, after flushing finished tiles.
void agree_on_errors(Comm& comm, const TileWork& work, const std::exception_ptr& error) {
    try {
        agree_on_error(comm, error);
    } catch (...) {
        try {
            flush(work);
        } catch (const Error&) {
            // Reports the first error; tiles that could not be flushed are computed again later.
        }
        throw;
    }
}

[[noreturn]] void stop(std::string_view stage, std::int64_t done, std::int64_t total,
                       const TileWork& work) {
    const std::string file = work.resume_file ? work.resume_file().string() : std::string();
    if (done == 0)
        throw Cancelled(fmt::format("{}: stopped before the first of {} tiles was done{}", stage,
                                    total,
                                    file.empty() ? "" : "; run the same command again to resume"));
    const std::string kept =
        file.empty()
            ? "they were not kept in a file"
            : fmt::format("they are kept in {}: run the same command again to resume", file);
    throw Cancelled(fmt::format("{}: stopped after {} of {} tiles; {}", stage, done, total, kept));
}

}  // namespace

void for_each_tile(const Context& context, std::string_view stage, std::span<const Tile> tiles,
                   const TileWork& work) {
    ContextRanks ranks(context);
    Comm& comm = ranks.comm;
    Tiles left = missing_tiles(tiles, work, comm.size());
    // Waits, so that no rank stores a tile while another one still asks which tiles are done.
    comm.barrier();
    const auto total = static_cast<std::int64_t>(tiles.size());
    std::int64_t done = total - static_cast<std::int64_t>(left.size());
    if (done > 0) context.update(stage, done, total, "resumed");
    while (done < total) {
        const std::vector<Tiles> round = take_round(left, comm.size());
        const Tiles& own = round[comm.rank()];
        std::exception_ptr error;
        std::size_t whole = 0;
        try {
            while (whole < own.size() && (whole == 0 || !context.cancelled()) &&
                   compute_tile(*own[whole], work))
                ++whole;
        } catch (...) {
            error = std::current_exception();
        }
        agree_on_errors(comm, work, error);
        for (const Tiles& of_rank : round) done += static_cast<std::int64_t>(of_rank.size());
        const bool is_whole = whole == own.size();
        if (is_whole) context.update(stage, done, total);
        if (!comm.any(context.cancelled() || !is_whole)) continue;
        auto unfinished = static_cast<std::int64_t>(own.size() - whole);
        comm.sum({&unfinished, 1});
        done -= unfinished;
        if (done == total) continue;
        flush(work);
        stop(stage, done, total, work);
    }
    together(comm, [&] { flush(work); });
}

void sweep(const Context& context, std::string_view stage, std::span<const Tile> tiles,
           TileSink& sink, const TileFunction& compute) {
    Array<float, 2> output;
    const auto compute_and_put = [&](const Tile& tile) {
        if (output.extent(0) == tile.items && output.extent(1) == tile.values)
            output.fill(0.0f);
        else
            output = Array<float, 2>(tile.items, tile.values);
        sink.begin(tile);
        compute(tile, output);
        sink.put(tile, output);
    };
    for_each_tile(context, stage, tiles,
                  {.compute = compute_and_put,
                   .is_done = [&](const Tile& tile) { return sink.has(tile); },
                   .flush = [&] { sink.flush(); },
                   .resume_file = [&] { return sink.resume_file(); }});
}

void together(const Context& context, const std::function<void()>& work) {
    ContextRanks ranks(context);
    together(ranks.comm, work);
}

double max_over_ranks(const Context& context, double value) {
    if (context.comm != nullptr) context.comm->raise({&value, 1});
    return value;
}

}  // namespace pleat
