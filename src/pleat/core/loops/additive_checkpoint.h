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
#include "pleat/core/loops/iterate.h"
#include "pleat/core/loops/sweep.h"

namespace pleat {

class NpzReader;
class NpzWriter;

/// Results of tiles other than sums, such as a set or a list of the best. Its content must not
/// depend on the order of the tiles. load() and merge() add to what it holds.
struct Collector {
    virtual ~Collector() = default;
    virtual void save(NpzWriter& file, std::string_view name) const = 0;
    virtual void load(const NpzReader& file, std::string_view name) = 0;
    virtual std::vector<std::uint8_t> bytes() const = 0;  ///< for merge() on another rank
    virtual void merge(std::span<const std::uint8_t> bytes) = 0;
};

/// A sink for sweeps whose tiles add integers to the caller's arrays or raise maxima in them. It
/// records which tiles are included and saves both, so that a killed sweep resumes with any number
/// of ranks. In an engine, on every rank:
///
///     AdditiveCheckpoint sums(context, "pairs", problem, tiles.size());
///     sums.add("less", less.view());          // zero at this point
///     sums.raise("largest", largest.view());  // at their smallest value
///     sums.resume();
///     sweep(context, "pairs", tiles, sums,
///           [&](const Tile& tile, View<float, 2>) { ... less[i] += 1; ... });
///     sums.total();  // now every rank has the arrays of all tiles
///
/// Each rank saves its own tiles in its own file next to `context.checkpoint` (rank_file()), first
/// under another name and then renamed. Any set of these files with disjoint tiles adds up to a
/// valid state, so a kill at any moment costs time but never changes the result.
class AdditiveCheckpoint : public TileSink {
public:
    /// `problem` is a hash of input and parameters; `tiles` have the ids 0 to `tiles` - 1. Without
    /// `context.checkpoint` nothing is saved.
    AdditiveCheckpoint(const Context& context, std::string stage, std::string problem, Index tiles);

    /// Arrays of the caller, which must outlive this object: tiles add to the first two, and raise
    /// elements of the last (no NaN). The same names and lengths on every rank, before resume().
    void add(std::string name, std::span<std::int64_t> sums);
    void add(std::string name, std::span<std::uint32_t> sums);
    void raise(std::string name, std::span<double> maxima);
    /// Registers numbers that are 0 until set; each element is set by one tile.
    void fill(std::string name, std::span<float> values);
    /// Registers an object with the functions of Collector. After total(), only rank 0 has its
    /// complete content.
    template <class T>
    void collect(std::string name, T& object) {
        collectors_.push_back({std::move(name), std::make_unique<Collecting<T>>(object)});
    }

    /// Loads the saved arrays of earlier runs on rank 0, and agrees with all ranks on which tiles
    /// are done. Throws InputError with advice if a file is damaged or belongs to another problem.
    void resume();
    /// After the sweep: gives every rank the complete arrays. The files stay.
    void total();

    /// For the part of a tile's computation that may be stopped or fail: calls `compute`, which
    /// must not change the arrays, and returns its result. If it throws, the arrays contain
    /// complete earlier tiles, which flush() saves.
    template <class Compute>
    auto compute_before_adding(Compute&& compute) {
        try {
            return compute();
        } catch (...) {
            is_adding_tile_ = false;
            throw;
        }
    }

    bool has(const Tile& tile) const override;
    void begin(const Tile& tile) override;
    void put(const Tile& tile, View<const float, 2> output) override;
    /// Saves new tiles. Does nothing after a failure inside a tile, whose partial results may be in
    /// the arrays: the last saved state remains.
    void flush() override;
    /// The path of the checkpoint; empty if the last tiles could not be saved.
    std::filesystem::path resume_file() const override;

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
    /// The tiles of an earlier run's file.
    struct EarlierFile {
        std::filesystem::path path;
        std::vector<std::uint8_t> marks;
        Index count = 0;
    };
    EarlierFile read_earlier(const std::filesystem::path& path) const;
    void load_earlier_files();
    bool load(const EarlierFile& file);
    void load_values(const NpzReader& reader);
    void save();
    void save_or_report();
    Index bytes() const;

    Context context_;
    std::string stage_, problem_;
    std::vector<Values> values_;
    std::vector<NamedCollector> collectors_;
    std::vector<std::uint8_t> done_before_;       ///< [tile]: done before this sweep, on any rank
    std::vector<std::uint8_t> is_in_own_arrays_;  ///< [tile]: in this rank's arrays
    SaveClock clock_;
    std::string save_failure_;        ///< why saving was given up; empty while it works
    bool has_unsaved_tiles_ = false;  ///< tiles were put since the last save
    bool is_adding_tile_ = false;     ///< a tile is being added
    bool is_total_ = false;
};

/// Sums what tiles compute, over ranks and from checkpoints of earlier runs. `join` registers the
/// caller's arrays; `compute` computes one tile without changing them (it may throw Cancelled);
/// `add` adds the tile to them. `problem` returns a hash of input and parameters, and is called
/// only if there is a checkpoint file.
void sum_over_tiles(const Context& context, std::string_view stage, std::span<const Tile> tiles,
                    const std::function<std::string()>& problem,
                    const std::function<void(AdditiveCheckpoint&)>& join,
                    const TileFunction& compute,
                    const std::function<void(const Tile&, View<const float, 2>)>& add);

}  // namespace pleat
