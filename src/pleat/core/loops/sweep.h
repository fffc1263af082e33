// Sweep: the loop over independent tiles, with progress, cancelling and ranks.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "pleat/core/context.h"
#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat {

/// A run of consecutive indices along one axis.
struct Block {
    Index first = 0, count = 0;
};

/// One independent piece of a computation: up to three blocks of indices (frames by frames, columns
/// by columns by columns; unused sides have count 0), and the shape of its output.
struct Tile {
    Index id = 0;  ///< unique within a sweep, from 0
    Block side[3] = {};
    Index items = 0;   ///< rows of the output: pairs, triples, frames, ...
    Index values = 1;  ///< numbers for each item
};

/// Where finished tiles go: a file, a histogram, a list of the best.
struct TileSink {
    virtual ~TileSink() = default;
    /// True when the tile need not be computed (again).
    virtual bool has(const Tile& tile) const = 0;
    /// The tile's computation begins; no put() follows where that fails.
    virtual void begin(const Tile& tile) { (void)tile; }
    /// Takes a finished tile; `output` is [item, value] and valid only during the call.
    virtual void put(const Tile& tile, View<const float, 2> output) = 0;
    /// Makes what was put durable; called at the end of a sweep and before it throws.
    virtual void flush() {}
    /// The file that keeps finished tiles, for the message of a cancel; empty = none.
    virtual std::filesystem::path place() const { return {}; }
};

/// Computes one tile into `output`, [tile.items, tile.values], zeroed; may throw Cancelled when
/// asked to stop.
using TileFunction = std::function<void(const Tile& tile, View<float, 2> output)>;

/// What for_each_tile() calls. Each rank has its own.
struct TileWork {
    /// Computes a tile and keeps what came of it; may throw Cancelled if asked to stop.
    std::function<void(const Tile&)> compute;
    /// True if the tile need not be computed (again). Not set: all tiles are computed.
    std::function<bool(const Tile&)> is_done = {};
    /// Makes finished tiles durable; called at the end and before an error is thrown.
    std::function<void()> flush = {};
    /// Returns the file that keeps finished tiles, for the message of a cancel; empty: none.
    std::function<std::filesystem::path()> kept_in = {};
};

/// Computes every tile that is not done, in the order of `tiles`. With several ranks the missing
/// tiles are dealt out in turn, those with the largest output first, so that the tiles of a round
/// take about the same time; all ranks agree on a cancel or failure after each round. Use threads
/// inside `compute`. Progress counts tiles. Throws Cancelled, with what is kept, if asked to stop
/// before the last tile is done; another error of `work` is thrown as it is, on other ranks as
/// OtherRankFailed. In each case the tiles that were finished before are kept.
void for_each_tile(const Context& context, std::string_view stage, std::span<const Tile> tiles,
                   const TileWork& work);

/// for_each_tile() for tiles with an output: `compute` fills it, and `sink` keeps it.
void sweep(const Context& context, std::string_view stage, std::span<const Tile> tiles,
           TileSink& sink, const TileFunction& compute);

/// Throws on every rank if any has an error: its own, or OtherRankFailed. A collective call.
void agree_on_error(const Context& context, const std::exception_ptr& error);

/// The largest value of all ranks. A collective call.
double max_over_ranks(const Context& context, double value);

}  // namespace pleat

#pragma GCC visibility pop
