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

/// Consecutive indices [first, first + count) along one axis.
struct Block {
    Index first = 0, count = 0;
};

/// One independent piece of a computation: up to three blocks of indices (frames by frames, columns
/// by columns by columns; a side that is not used has count 0), and the shape of its output.
struct Tile {
    Index id = 0;  ///< unique within a sweep, from 0
    Block side[3] = {};
    Index items = 0;   ///< rows of the output: pairs, triples, frames, ...
    Index values = 1;  ///< numbers for each item
    Index cost = 0;    ///< of its computation, in any unit; 0: items * values, or 1
};

/// Receives finished tiles and keeps them in a file, a histogram or a list.
struct TileSink {
    virtual ~TileSink() = default;
    /// True when the tile need not be computed (again).
    virtual bool has(const Tile& tile) const = 0;
    /// Called before a tile is computed. If the computation fails, no put() follows.
    virtual void begin(const Tile& tile) { (void)tile; }
    /// Keeps a finished tile. `output`: [item, value], valid only during the call.
    virtual void put(const Tile& tile, View<const float, 2> output) = 0;
    /// Writes the stored tiles to the disk; called at the end of a sweep and before it throws.
    virtual void flush() {}
    /// The file that keeps finished tiles, for the message of a cancel; empty = none.
    virtual std::filesystem::path resume_file() const { return {}; }
};

/// Computes one tile into `output`, [tile.items, tile.values], zeroed; may throw Cancelled when
/// asked to stop.
using TileFunction = std::function<void(const Tile& tile, View<float, 2> output)>;

/// The functions that for_each_tile() calls. Each rank has its own.
struct TileWork {
    /// Computes a tile and keeps its result; may throw Cancelled if the user asked to stop.
    std::function<void(const Tile&)> compute;
    /// True if the tile need not be computed (again). Not set: all tiles are computed.
    std::function<bool(const Tile&)> is_done = {};
    /// Flushes finished tiles to the disk; called at the end and before an error is thrown.
    std::function<void()> flush = {};
    /// Returns the file that keeps finished tiles, for the message of a cancel; empty: none.
    std::function<std::filesystem::path()> resume_file = {};
};

/// Computes every tile that is not done, in the order of `tiles`. With several ranks the missing
/// tiles are dealt out in rounds, those of the highest cost first: a rank gets the most expensive
/// tile that is left, or several tiles that cost no more together, so that all need about the same
/// time. After each round all ranks agree on a cancel or failure. Use threads inside `compute`.
/// Progress counts tiles. Throws Cancelled, with
/// what is kept, if asked to stop before the last tile is done; another error of `work` is thrown
/// as it is, on other ranks as OtherRankFailed. In each case the tiles that were finished before
/// are kept.
void for_each_tile(const Context& context, std::string_view stage, std::span<const Tile> tiles,
                   const TileWork& work);

/// for_each_tile() for tiles with an output, which `compute` fills and `sink` keeps.
void sweep(const Context& context, std::string_view stage, std::span<const Tile> tiles,
           TileSink& sink, const TileFunction& compute);

/// The ranks of a context; a group of one rank if there are none.
struct ContextRanks {
    explicit ContextRanks(const Context& context) : comm(context.comm ? *context.comm : alone) {}
    Comm alone;
    Comm& comm;
};

/// Calls `work` on every rank; throws on all if it throws on any: the own error, or
/// OtherRankFailed. A collective call.
void together(const Context& context, const std::function<void()>& work);

/// The largest value of all ranks. A collective call.
double max_over_ranks(const Context& context, double value);

}  // namespace pleat

#pragma GCC visibility pop
