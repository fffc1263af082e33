// Two sets: frames against those of another set or one structure, in tiles of about the same time.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/pairs/pairs_run.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

namespace {

/// For few columns, turning a frame for float32 takes longer than its RMSDs in float64.
Accuracy exactness_of(const Parameters& parameters, Index columns, bool allows_unproven) {
    constexpr Index kFew = 64;
    const bool few = parameters.metric == Metric::rmsd && columns <= kFew;
    return {few ? FitPrecision::float64 : parameters.precision, parameters.cutoff.value_or(0.0),
            allows_unproven};
}

Index measured_atoms(const AtomSets& sets, Index all) {
    return sets.measured.empty() ? all : std::ssize(sets.measured);
}

/// Throws DeviceError if memory is too small, then packs the frames.
std::unique_ptr<Comparison> comparison_of(const TwoSets& sides, const AtomSets& sets,
                                          const Parameters& parameters, bool allows_unproven,
                                          std::int64_t lists, const Context& context) {
    const Index frames = sides.rows.extent(0) + (sides.are_one() ? 0 : sides.columns.extent(0));
    const Index atoms = sides.rows.extent(1);
    require_frame_memory(
        comparison_memory(frames, atoms, parameters.metric, !sets.are_one()) + lists, frames,
        atoms);
    return make_comparison(sides, sets, parameters.metric,
                           exactness_of(parameters, sides.columns.extent(0), allows_unproven),
                           context);
}

/// How many rows are packed together: few enough to need little memory, and enough that packing all
/// columns again with each chunk of rows takes little time compared with its pairs, which a GPU
/// computes fast.
Index chunk_size(Index rows, Index columns, Index atoms, const Context& context) {
    constexpr Index kMinRows = 32, kMaxRows = 4096;
    const Index coordinates = Index{1} << (context.device.kind == Device::Kind::cuda ? 27 : 21);
    const Index fitting = std::max(coordinates / (3 * atoms), kMinRows);
    return std::min(rows, std::max(fitting, std::min(columns, kMaxRows)));
}

/// Compares two sets, packing rows chunk by chunk. Chunks do not depend on where a run resumes,
/// since the last bits of values depend on which frames are packed together.
class RowChunks final : public Kernel {
public:
    RowChunks(const TwoSets& sides, const AtomSets& sets, const Parameters& parameters,
              bool allows_unproven, const Context& context)
        : sides_(sides),
          sets_(sets),
          parameters_(parameters),
          allows_unproven_(allows_unproven),
          context_(context),
          size_(chunk_size(sides.rows.extent(0), sides.columns.extent(0), sides.rows.extent(1),
                           context)) {
        pack_chunk(0);
    }
    /// The comparison for the chunk that was packed last.
    const Comparison& comparison() const { return *comparison_; }
    /// Number of values in all chunks so far that are not proven minimal.
    Index unproven() const { return unproven_ + comparison_->unproven(); }
    /// Rows of each chunk but the last.
    Index size() const { return size_; }

    /// Compares rows within one chunk with all columns, [row, column].
    void band(Block rows, float* values) override {
        const Index first = rows.first / size_ * size_;
        if (first != first_) pack_chunk(first);
        compare(*comparison_, {rows.first - first, rows.count}, {0, sides_.columns.extent(0)},
                resolve_threads(context_), values);
    }

private:
    void pack_chunk(Index first) {
        if (comparison_ != nullptr) unproven_ = unproven();
        comparison_.reset();  // frees its memory before the next one needs it
        const Index count = std::min(size_, sides_.rows.extent(0) - first);
        const View<const float, 3> rows(sides_.rows[first].data, count, sides_.rows.extent(1),
                                        sides_.rows.extent(2));
        // The lists of nearest frames are allocated after the first chunk.
        const std::int64_t lists =
            first == 0
                ? nearest_memory(sides_.rows.extent(0), sides_.columns.extent(0), parameters_)
                : 0;
        comparison_ = comparison_of({rows, sides_.columns, sides_.is_reference}, sets_, parameters_,
                                    allows_unproven_, lists, context_);
        first_ = first;
    }

    const TwoSets& sides_;
    const AtomSets& sets_;
    const Parameters& parameters_;
    bool allows_unproven_;
    const Context& context_;
    Index size_, first_ = 0, unproven_ = 0;
    std::unique_ptr<Comparison> comparison_;
};

/// Tiles of rows with all columns that take about the same time, each within a chunk.
std::vector<Tile> row_tiles(Index rows, Index columns, const RowChunks& chunks) {
    constexpr Index kMaxRows = 65536, kStored = Index{1} << 26;
    const Comparison& comparison = chunks.comparison();
    const Index step = comparison.block_rows();
    const double fitting = kTileTime / (comparison.cost() * static_cast<double>(columns));
    const Index limit =
        std::min(static_cast<Index>(std::min<double>(fitting, kMaxRows)), kStored / columns);
    const Index height = std::max(step, limit / step * step);
    std::vector<Tile> tiles;
    for (Index first = 0; first < rows; first += tiles.back().side[0].count) {
        const Index left = std::min(rows, (first / chunks.size() + 1) * chunks.size()) - first;
        Tile tile;
        tile.id = std::ssize(tiles);
        tile.side[0] = {first, std::min(height, left)};
        tile.items = tile.side[0].count * columns;
        tiles.push_back(tile);
    }
    return tiles;
}

void check_others(View<const float, 3> xyz, View<const float, 3> others) {
    if (others.extent(1) != xyz.extent(1) || others.extent(2) != 3)
        throw UsageError(
            fmt::format("expected {} atoms of 3 coordinates to compare with, found {} "
                        "of {}",
                        xyz.extent(1), others.extent(1), others.extent(2)));
    if (others.extent(0) < 1 || others.extent(0) > std::numeric_limits<std::int32_t>::max())
        throw InputError(fmt::format(
            "expected from 1 to 2147483647 frames to compare with, found {}", others.extent(0)));
    // Both sides are packed together later, when it is no longer known which frames are whose.
    check_coordinates(xyz);
    check_coordinates(others, "other frame");
}

Result run_rectangle(const TwoSets& sides, const AtomSets& sets, const Parameters& parameters,
                     const Context& context, const MatrixTarget& matrix,
                     Index* unproven = nullptr) {
    const Index frames = sides.rows.extent(0), columns = sides.columns.extent(0);
    std::once_flag is_hashed;
    std::string shared_hash;
    const auto hash = [&] {
        std::call_once(is_hashed, [&] {
            Sha256 problem;
            problem.field(problem_hash(sides.rows, sides.columns, sets, parameters, context));
            if (sides.is_reference) problem.field("reference");
            shared_hash = problem.hex();
        });
        return shared_hash;
    };
    std::atomic<Index> all_unproven = 0;
    Result result = first_of_lanes(context, [&](const Context& lane) {
        RowChunks chunks(sides, sets, parameters, unproven != nullptr, lane);
        Result own = run_pairs({chunks, frames, measured_atoms(sets, sides.rows.extent(1)),
                                row_tiles(frames, columns, chunks), hash, columns},
                               parameters, lane, matrix);
        all_unproven += chunks.unproven();
        return own;
    });
    if (unproven != nullptr) *unproven = all_unproven;
    return result;
}

/// Unproven values are only counted where they are computed, not on other ranks or before a resume.
Context alone_if_unproven(const AtomSets& sets, const Context& context) {
    Context own = context;
    if (sets.equal_chains.empty() && sets.equal_orders.empty()) return own;
    own.comm = nullptr;
    own.checkpoint.clear();
    return own;
}

}  // namespace

Result run_against(View<const float, 3> xyz, View<const float, 3> others, const AtomSets& sets,
                   const Parameters& parameters, const Context& context,
                   const MatrixTarget& matrix) {
    check_input(xyz, parameters);
    check_others(xyz, others);
    check_matrix(parameters, matrix, xyz.extent(0) * others.extent(0));
    check_sets(sets, xyz.extent(1), parameters);
    return run_rectangle({xyz, others}, sets, parameters, context, matrix);
}

void check_with_reference(const Parameters& parameters) {
    const auto refuse = [](const char* option) {
        throw UsageError(fmt::format(
            "leave --{} out: frames are compared with one structure, not with each other", option));
    };
    if (parameters.cutoff) refuse("cutoff");
    if (parameters.nearest > 0) refuse("nearest");
    if (parameters.matrix == MatrixLayout::full) refuse("matrix full");
}

Result run_reference(View<const float, 3> xyz, View<const float, 2> reference, const AtomSets& sets,
                     const Parameters& parameters, const Context& context) {
    check_with_reference(parameters);
    check_input(xyz, parameters);
    const View<const float, 3> one(reference.data, Index{1}, reference.extent(0),
                                   reference.extent(1));
    check_others(xyz, one);
    check_sets(sets, xyz.extent(1), parameters);
    const bool is_lddt = parameters.metric == Metric::lddt;
    if (is_lddt) require_surroundings(reference, sets);
    // The structure is each frame's only nearest item: values are saved like nearest lists.
    Parameters own = parameters;
    own.matrix = MatrixLayout::none;
    own.nearest = 1;
    Index unproven = 0;
    Result result =
        run_rectangle({xyz, one, true}, sets, own, alone_if_unproven(sets, context), {}, &unproven);
    result.unproven = unproven;
    result.values.assign(result.nearest.values.begin(), result.nearest.values.end());
    result.nearest = {};
    if (is_lddt && context.rank() == 0)
        result.residues = residue_lddt(xyz, reference, sets, context);
    return result;
}

}  // namespace pleat::rmsd
