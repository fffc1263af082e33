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

/// The ranks of the context, or the group of one.
struct Ranks {
    explicit Ranks(const Context& context) : comm(context.comm ? *context.comm : alone) {}
    Comm alone;
    Comm& comm;
};

std::vector<const Tile*> missing_tiles(std::span<const Tile> tiles, const TileSink& sink,
                                       int ranks) {
    std::vector<const Tile*> missing;
    for (const Tile& tile : tiles)
        if (!sink.has(tile)) missing.push_back(&tile);
    const auto is_larger = [](const Tile* a, const Tile* b) {
        return a->items * a->values > b->items * b->values;
    };
    // A round takes as long as its largest tile.
    if (ranks > 1) std::stable_sort(missing.begin(), missing.end(), is_larger);
    return missing;
}

/// False when it was stopped amid the tile, which is then in no sink.
bool compute_tile(const Tile& tile, TileSink& sink, const TileFunction& compute,
                  Array<float, 2>& output) {
    if (output.extent(0) == tile.items && output.extent(1) == tile.values)
        output.fill(0.0f);
    else
        output = Array<float, 2>(tile.items, tile.values);
    sink.begin(tile);
    try {
        compute(tile, output);
    } catch (const Cancelled&) {
        return false;  // what is kept is told once all ranks agree
    }
    sink.put(tile, output);
    return true;
}

/// Throws on every rank when one has an error; flushes first, so that finished tiles are kept.
void agree_on_errors(Comm& comm, TileSink& sink, std::exception_ptr error) {
    try {
        agree_on_error(comm, error);
    } catch (...) {
        try {
            sink.flush();
        } catch (const Error&) {
            // The first error is the one to tell; what is not flushed is computed again.
        }
        throw;
    }
}

[[noreturn]] void stop(std::string_view stage, std::int64_t done, std::int64_t total,
                       const TileSink& sink) {
    const std::string place = sink.place().string();
    if (done == 0)
        throw Cancelled(fmt::format("{}: stopped before the first of {} tiles was done{}", stage,
                                    total,
                                    place.empty() ? "" : "; run the same command again to go on"));
    const std::string kept =
        place.empty()
            ? "they were not kept in a file"
            : fmt::format("they are kept in {}: run the same command again to go on", place);
    throw Cancelled(fmt::format("{}: stopped after {} of {} tiles; {}", stage, done, total, kept));
}

}  // namespace

void sweep(const Context& context, std::string_view stage, std::span<const Tile> tiles,
           TileSink& sink, const TileFunction& compute) {
    Ranks ranks(context);
    Comm& comm = ranks.comm;
    const auto missing = missing_tiles(tiles, sink, comm.size());
    // No rank may put a tile while another still asks for what is there.
    comm.barrier();
    const auto total = static_cast<std::int64_t>(tiles.size());
    const auto todo = static_cast<std::int64_t>(missing.size());
    if (todo < total) context.update(stage, total - todo, total, "resumed");
    Array<float, 2> output;
    for (std::int64_t round = 0; round < todo; round += comm.size()) {
        std::exception_ptr error;
        const std::int64_t mine = round + comm.rank();
        bool is_whole = true;
        try {
            if (mine < todo) is_whole = compute_tile(*missing[mine], sink, compute, output);
        } catch (...) {
            error = std::current_exception();
        }
        agree_on_errors(comm, sink, error);
        std::int64_t done = std::min(todo, round + comm.size());
        if (is_whole) context.update(stage, total - todo + done, total);
        if (!comm.any(context.cancelled() || !is_whole)) continue;
        std::int64_t unfinished = is_whole ? 0 : 1;
        comm.sum({&unfinished, 1});
        done -= unfinished;
        if (done == todo) continue;
        sink.flush();
        stop(stage, total - todo + done, total, sink);
    }
    std::exception_ptr error;
    try {
        sink.flush();
    } catch (...) {
        error = std::current_exception();
    }
    agree_on_errors(comm, sink, error);
}

}  // namespace pleat
