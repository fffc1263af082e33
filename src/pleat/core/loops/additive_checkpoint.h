// Additive checkpoint: resuming a sweep whose result is arrays to which every tile adds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/loops/saving.h"
#include "pleat/core/loops/sweep.h"

namespace pleat {

class NpzReader;
class NpzWriter;

/// Something other than sums that tiles are fed to, whose content depends on no order: a list of
/// the best, a set. What load() and merge() find is added to what is there.
struct Collector {
    virtual ~Collector() = default;
    virtual void save(NpzWriter& file, std::string_view name) const = 0;
    virtual void load(const NpzReader& file, std::string_view name) = 0;
    virtual std::vector<std::uint8_t> bytes() const = 0;  ///< for merge() on another rank
    virtual void merge(std::span<const std::uint8_t> bytes) = 0;
};

/// The sink of a sweep whose tiles write no output of their own: each adds to integers, or raises
/// maxima, in arrays of the caller. It keeps which tiles are in the arrays, and saves both, for any
/// number of ranks before a kill and after. In an engine, on every rank:
///
///     AdditiveCheckpoint sums(context, "pairs", problem, tiles.size());
///     sums.add("less", less.view());          // zero at this point
///     sums.raise("largest", largest.view());  // at their least value
///     sums.resume();
///     sweep(context, "pairs", tiles, sums, [&](const Tile& tile, View<float, 2>) { ... less[i] +=
///     1; ... }); sums.total();                           // now the arrays are those of one rank,
///     on every rank
///
/// Each rank saves its own tiles in a file of its own beside `context.checkpoint` (rank_file()),
/// written beside, then renamed. Any set of these files whose tiles are disjoint adds up to a valid
/// state, so a kill at any moment costs time and never a bit of the result.
class AdditiveCheckpoint : public TileSink {
public:
    /// `problem` is a hash of input and parameters; `tiles` have the ids 0 to `tiles` - 1. Without
    /// `context.checkpoint` nothing is saved.
    AdditiveCheckpoint(const Context& context, std::string stage, std::string problem, Index tiles);

    /// Arrays of the caller, which outlive this object: to which tiles add, or whose elements they
    /// raise (no NaN). The same names and lengths on every rank, before resume().
    void add(std::string name, std::span<std::int64_t> sums);
    void add(std::string name, std::span<std::uint32_t> sums);
    void raise(std::string name, std::span<double> maxima);
    /// Numbers that are 0 until a tile sets them; each element is set by one tile.
    void fill(std::string name, std::span<float> values);
    /// An object of the caller that has the functions of Collector. Its content over all tiles is
    /// on rank 0 alone after total().
    template <class T>
    void collect(std::string name, T& object) {
        collectors_.push_back({std::move(name), std::make_unique<Collecting<T>>(object)});
    }

    /// Takes over what earlier runs saved: adds it on rank 0, and agrees with all ranks on the
    /// tiles that are done. InputError with advice for a file that is damaged or of another
    /// problem.
    void resume();
    /// After the sweep: makes the arrays of every rank those over all tiles. The files stay.
    void total();

    /// For a tile whose computation may be stopped or fail: calls `compute`, which adds nothing to
    /// what is kept here yet, and gives what it returned. Where it throws, the tiles put before are
    /// whole, and flush() saves them.
    template <class Compute>
    auto before_adding(Compute&& compute) {
        try {
            return compute();
        } catch (...) {
            is_open_ = false;
            throw;
        }
    }

    bool has(const Tile& tile) const override;
    void begin(const Tile& tile) override;
    void put(const Tile& tile, View<const float, 2> output) override;
    /// Saves what is new. After a failure in the midst of a tile, whose part may be in the arrays,
    /// it does nothing: the state saved before stands.
    void flush() override;
    /// Empty where what was put last is not saved.
    std::filesystem::path place() const override;

private:
    struct Values {
        std::string name;
        std::variant<std::span<std::int64_t>, std::span<std::uint32_t>, std::span<double>,
                     std::span<float>>
            data;
    };
    template <class T>
    struct Collecting final : Collector {
        explicit Collecting(T& collecting) : object(collecting) {}
        void save(NpzWriter& file, std::string_view name) const override {
            object.save(file, name);
        }
        void load(const NpzReader& file, std::string_view name) override {
            object.load(file, name);
        }
        std::vector<std::uint8_t> bytes() const override { return object.bytes(); }
        void merge(std::span<const std::uint8_t> bytes) override { object.merge(bytes); }
        T& object;
    };
    struct NamedCollector {
        std::string name;
        std::unique_ptr<Collector> collector;
    };
    /// An earlier file's tiles.
    struct Part {
        std::filesystem::path path;
        std::vector<std::uint8_t> marks;
        Index count = 0;
    };
    Part read_part(const std::filesystem::path& path) const;
    void take_parts();
    bool take(const Part& part);
    void load_values(const NpzReader& reader);
    void save();
    void save_or_tell();
    Index bytes() const;
    int rank() const;

    Context context_;
    std::string stage_, problem_;
    std::vector<Values> values_;
    std::vector<NamedCollector> collectors_;
    std::vector<std::uint8_t> known_;  ///< [tile]: done before this sweep, on whatever rank
    std::vector<std::uint8_t> own_;    ///< [tile]: in this rank's arrays
    SaveClock clock_;
    std::string unsaved_;   ///< why no more is saved
    bool is_new_ = false;   ///< tiles were put since the last save
    bool is_open_ = false;  ///< a tile is being added
    bool is_total_ = false;
};

/// Adds up what tiles compute, over ranks and from checkpoints of earlier runs: `join` hands the
/// caller's arrays to the checkpoint, `compute` computes one tile and changes none of them (it may
/// throw Cancelled if asked to stop), and `add` adds that tile to them. `problem` is a hash of
/// input and parameters; it is asked for only if there is a checkpoint file.
void sum_over_tiles(const Context& context, std::string_view stage, std::span<const Tile> tiles,
                    const std::function<std::string()>& problem,
                    const std::function<void(AdditiveCheckpoint&)>& join,
                    const TileFunction& compute,
                    const std::function<void(const Tile&, View<const float, 2>)>& add);

}  // namespace pleat
