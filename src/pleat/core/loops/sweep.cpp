// Sweep: dealing out tiles, computing them, agreeing on when to stop.
#include "pleat/core/loops/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

/// The ranks of the context; a group of one rank if there are none.
struct Ranks {
    explicit Ranks(const Context& context) : comm(context.comm ? *context.comm : alone) {}
    Comm alone;
    Comm& comm;
};

std::vector<const Tile*> missing_tiles(std::span<const Tile> tiles, const TileWork& work,
                                       int ranks) {
    std::vector<const Tile*> missing;
    for (const Tile& tile : tiles)
        if (!work.is_done || !work.is_done(tile)) missing.push_back(&tile);
    const auto is_larger = [](const Tile* a, const Tile* b) {
        return a->items * a->values > b->items * b->values;
    };
    // Sorted by size, because a round of one tile per rank takes as long as its largest tile.
    if (ranks > 1) std::stable_sort(missing.begin(), missing.end(), is_larger);
    return missing;
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

/// Throws on every rank if one has an error; flushes first, so that finished tiles are kept.
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
    const std::string file = work.kept_in ? work.kept_in().string() : std::string();
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
    Ranks ranks(context);
    Comm& comm = ranks.comm;
    const auto missing = missing_tiles(tiles, work, comm.size());
    // Waits, so that no rank stores a tile while another one still asks which tiles are done.
    comm.barrier();
    const auto total = static_cast<std::int64_t>(tiles.size());
    const auto todo = static_cast<std::int64_t>(missing.size());
    if (todo < total) context.update(stage, total - todo, total, "resumed");
    for (std::int64_t round = 0; round < todo; round += comm.size()) {
        std::exception_ptr error;
        const std::int64_t mine = round + comm.rank();
        bool is_whole = true;
        try {
            if (mine < todo) is_whole = compute_tile(*missing[mine], work);
        } catch (...) {
            error = std::current_exception();
        }
        agree_on_errors(comm, work, error);
        std::int64_t done = std::min(todo, round + comm.size());
        if (is_whole) context.update(stage, total - todo + done, total);
        if (!comm.any(context.cancelled() || !is_whole)) continue;
        std::int64_t unfinished = is_whole ? 0 : 1;
        comm.sum({&unfinished, 1});
        done -= unfinished;
        if (done == todo) continue;
        flush(work);
        stop(stage, total - todo + done, total, work);
    }
    std::exception_ptr error;
    try {
        flush(work);
    } catch (...) {
        error = std::current_exception();
    }
    agree_on_errors(comm, work, error);
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
                   .kept_in = [&] { return sink.kept_in(); }});
}

void agree_on_error(const Context& context, const std::exception_ptr& error) {
    Ranks ranks(context);
    agree_on_error(ranks.comm, error);
}

double max_over_ranks(const Context& context, double value) {
    if (context.comm != nullptr) context.comm->raise({&value, 1});
    return value;
}

}  // namespace pleat
