// Measures: checks, tiles of about the same time, the loop, and what becomes of the values.
#include "pleat/rmsd/measures/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/files/npy_header.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/core/loops/tile_file.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/pairs/matrix.h"
#include "pleat/rmsd/pairs/pairs_run.h"
#include "pleat/rmsd/pairs/passing_sink.h"
#include "pleat/rmsd/pairs/summary.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

namespace {

constexpr double kTileTime = 5e7;  // nanoseconds of a thread

void check_sets(const AtomSets& sets, Index atoms, const Parameters& parameters) {
    const Metric& metric = metric_of(parameters.metric);
    check(sets, atoms);
    if (metric.is_score && !sets.weights.empty())
        throw UsageError(
            fmt::format("expected no weights with --metric {}, found some", metric.name));
    if (metric.is_score && parameters.precision != Parameters().precision)
        throw UsageError(fmt::format("expected no --precision with --metric {}, found {}",
                                     metric.name, parameters.precision));
    if (metric.kind != Metric::Kind::rmsd && !sets.are_one())
        throw UsageError(
            fmt::format("expected --metric rmsd with --measure, found {}, which looks at the "
                        "measured atoms alone",
                        metric.name));
}

/// Beside few columns turning a frame for float32 takes longer than its RMSDs do in float64.
Exactness exactness_of(const Parameters& parameters, const Metric& metric, Index columns) {
    constexpr Index kFew = 64;
    const bool few = metric.kind == Metric::Kind::rmsd && columns <= kFew;
    return {few || parameters.precision == "float64" ? Precision::float64 : Precision::mixed,
            parameters.has_cutoff() ? parameters.cutoff : 0.0};
}

std::string hash_of(const Sides& sides, const AtomSets& sets, const Parameters& parameters,
                    const Context& context) {
    Sha256 hash;
    hash.field(parameters.metric).field(sides.rows);
    if (!sides.are_one()) hash.field(sides.columns);
    hash.field(context.device.kind_name()).field(parameters.precision);
    // RMSDs are settled where they are near to it.
    hash.field(parameters.metric == "rmsd" && parameters.has_cutoff() ? parameters.cutoff : 0.0);
    for (const auto* set : {&sets.fit, &sets.measured}) {
        hash.field(static_cast<std::int64_t>(set->size()));
        for (const Index atom : *set) hash.field(atom);
    }
    for (const double weight : sets.weights) hash.field(weight);
    return hash.hex();
}

Index measured_atoms(const AtomSets& sets, Index all) {
    return sets.measured.empty() ? all : static_cast<Index>(sets.measured.size());
}

/// Refuses in time what would not fit, then prepares the frames.
std::unique_ptr<Comparison> prepare(const Sides& sides, const AtomSets& sets, const Metric& metric,
                                    const Parameters& parameters, std::int64_t lists,
                                    const Context& context) {
    const Index frames = sides.rows.extent(0) + (sides.are_one() ? 0 : sides.columns.extent(0));
    const Index atoms = sides.rows.extent(1);
    require_memory(comparison_memory(frames, atoms, metric, !sets.are_one()) + lists,
                   fmt::format("{} frames of {} atoms", frames, atoms),
                   "take fewer frames or atoms");
    return make_comparison(sides, sets, metric,
                           exactness_of(parameters, metric, sides.columns.extent(0)), context);
}

/// Rows that are prepared together: few enough to take little memory, and enough that preparing all
/// columns again beside each part costs little beside its pairs.
Index rows_together(Index rows, Index columns, Index atoms) {
    constexpr Index kCoordinates = Index{1} << 21, kLeast = 32, kMost = 4096;
    const Index fitting = std::max(kCoordinates / (3 * atoms), kLeast);
    return std::min(rows, std::max(fitting, std::min(columns, kMost)));
}

/// Two sets of which the rows are prepared a part at a time. Parts do not depend on where a run
/// goes on: what a frame is prepared with has a part in the last bits.
class RowParts {
public:
    RowParts(const Sides& sides, const AtomSets& sets, const Metric& metric,
             const Parameters& parameters, const Context& context)
        : sides_(sides),
          sets_(sets),
          metric_(metric),
          parameters_(parameters),
          context_(context),
          most_(
              rows_together(sides.rows.extent(0), sides.columns.extent(0), sides.rows.extent(1))) {
        take(0);
    }
    /// Of any part.
    const Comparison& comparison() const { return *comparison_; }
    /// Rows of a part, but for the last one.
    Index part_rows() const { return most_; }

    /// Rows of one part with all columns, [row, column].
    void compare_rows(Block rows, float* values) {
        const Index first = rows.first / most_ * most_;
        if (first != first_) take(first);
        compare(*comparison_, {rows.first - first, rows.count}, {0, sides_.columns.extent(0)},
                resolve_threads(context_), values);
    }

private:
    void take(Index first) {
        comparison_.reset();  // before the next one asks for memory
        const Index count = std::min(most_, sides_.rows.extent(0) - first);
        const View<const float, 3> rows(sides_.rows[first].data, count, sides_.rows.extent(1),
                                        sides_.rows.extent(2));
        // Lists of best frames of all parts are taken after the first of them.
        const std::int64_t lists =
            first == 0 ? best_memory(sides_.rows.extent(0), sides_.columns.extent(0), parameters_)
                       : 0;
        comparison_ = prepare({rows, sides_.columns}, sets_, metric_, parameters_, lists, context_);
        first_ = first;
    }

    const Sides& sides_;
    const AtomSets& sets_;
    const Metric& metric_;
    const Parameters& parameters_;
    const Context& context_;
    Index most_, first_ = 0;
    std::unique_ptr<Comparison> comparison_;
};

/// Bands of rows with all columns, of about the same time, each within a part.
std::vector<Tile> row_tiles(Index rows, Index columns, const RowParts& parts) {
    constexpr Index kMostRows = 65536;
    const Comparison& comparison = parts.comparison();
    const Index step = comparison.block_rows();
    const double fitting = kTileTime / (comparison.cost() * static_cast<double>(columns));
    const Index most = static_cast<Index>(std::min<double>(fitting, kMostRows));
    const Index height = std::max(step, most / step * step);
    std::vector<Tile> tiles;
    for (Index first = 0; first < rows; first += tiles.back().side[0].count) {
        const Index left =
            std::min(rows, (first / parts.part_rows() + 1) * parts.part_rows()) - first;
        Tile tile;
        tile.id = static_cast<Index>(tiles.size());
        tile.side[0] = {first, std::min(height, left)};
        tile.items = tile.side[0].count * columns;
        tiles.push_back(tile);
    }
    return tiles;
}

void write_rectangle(const std::filesystem::path& path, Index rows, Index columns,
                     const std::vector<Tile>& tiles, const TileFile& file) {
    OutputFile to(path);
    to.write(npy_header("<f4", {rows, columns}));
    for (const Tile& tile : tiles)
        to.write(file.output(tile).data, static_cast<std::size_t>(tile.items) * sizeof(float));
    to.close();
}

void check_others(View<const float, 3> xyz, View<const float, 3> others) {
    if (others.extent(1) != xyz.extent(1) || others.extent(2) != 3)
        throw InputError(
            fmt::format("expected {} atoms of 3 coordinates to compare with, found {} "
                        "of {}",
                        xyz.extent(1), others.extent(1), others.extent(2)));
    if (others.extent(0) < 1 || others.extent(0) > std::numeric_limits<std::int32_t>::max())
        throw InputError(fmt::format(
            "expected from 1 to 2147483647 frames to compare with, found {}", others.extent(0)));
    // Both sides are prepared together; here each still knows its frames.
    check_coordinates(xyz);
    check_coordinates(others, "other frame");
}

Context one_rank(const Context& context) {
    Context own = context;
    own.comm = nullptr;
    return own;
}

}  // namespace

Result run(View<const float, 3> xyz, const AtomSets& sets, const Parameters& parameters,
           const Context& context, const MatrixPlace& matrix) {
    const bool is_plain = parameters.metric == "rmsd" && sets.fit.empty() && sets.measured.empty();
    if (is_plain) return run(xyz, std::span(sets.weights), parameters, context, matrix);
    check_input(xyz, parameters);
    check_matrix(parameters, matrix, matrix_size(xyz.extent(0), parameters));
    const Metric& metric = metric_of(parameters.metric);
    check_sets(sets, xyz.extent(1), parameters);
    const Sides sides{xyz, xyz};
    const Index frames = xyz.extent(0);
    const Index others = sides.columns.extent(0) - 1;
    const auto comparison = prepare(sides, sets, metric, parameters,
                                    best_memory(sides.rows.extent(0), others, parameters), context);
    const auto kernel = make_pair_kernel(*comparison, frames, resolve_threads(context));
    const Index pairs = static_cast<Index>(kTileTime / comparison->cost());
    return run_pairs({*kernel, frames, measured_atoms(sets, xyz.extent(1)),
                      bands(frames, pairs, comparison->block_rows()),
                      [&] { return hash_of(sides, sets, parameters, context); }},
                     parameters, context, matrix);
}

Result run_against(View<const float, 3> xyz, View<const float, 3> others, const AtomSets& sets,
                   const Parameters& parameters, const Context& context,
                   const MatrixPlace& matrix) {
    check_input(xyz, parameters);
    check_others(xyz, others);
    check_matrix(parameters, matrix, xyz.extent(0) * others.extent(0));
    const Metric& metric = metric_of(parameters.metric);
    check_sets(sets, xyz.extent(1), parameters);
    const Context own = one_rank(context);
    const Sides sides{xyz, others};
    const Index frames = xyz.extent(0), columns = others.extent(0);
    RowParts parts(sides, sets, metric, parameters, own);
    const std::vector<Tile> tiles = row_tiles(frames, columns, parts);
    RectangleSummary summary(frames, columns, measured_atoms(sets, xyz.extent(1)), parameters);
    const TileFunction compute = [&](const Tile& tile, View<float, 2> output) {
        parts.compare_rows(tile.side[0], output.data);
    };
    if (parameters.matrix == "none" || matrix.file.empty()) {
        const bool is_kept = parameters.matrix != "none";
        PassingSink sink([&](Block rows, const float* values) {
            summary.add(rows, values);
            if (is_kept)
                std::copy_n(values, rows.count * columns,
                            matrix.memory.data() + rows.first * columns);
        });
        sweep(own, metric.name, tiles, sink, compute);
        return summary.finish(resolve_threads(context));
    }
    std::filesystem::path place = context.checkpoint;
    if (place.empty()) (place = matrix.file) += ".tiles";
    {
        TileFile file(place, hash_of(sides, sets, parameters, context), tiles);
        sweep(own, metric.name, tiles, file, compute);
        for (const Tile& tile : tiles) summary.add(tile.side[0], file.output(tile).data);
        write_rectangle(matrix.file, frames, columns, tiles, file);
    }
    if (context.checkpoint.empty()) std::filesystem::remove(place);
    return summary.finish(resolve_threads(context));
}

void refuse_with_reference(std::string_view what) {
    throw UsageError(
        fmt::format("expected --reference, --rmsf and --superposed without {}, found both: they "
                    "compare frames with one structure, not with each other",
                    what));
}

void check_with_reference(const Parameters& parameters) {
    if (parameters.has_cutoff()) refuse_with_reference("a cut-off");
    if (parameters.best > 0) refuse_with_reference("a number of best frames");
    if (parameters.matrix == "full") refuse_with_reference("a full matrix");
}

ReferenceResult run_reference(View<const float, 3> xyz, View<const float, 2> reference,
                              const AtomSets& sets, const Parameters& parameters,
                              const Context& context) {
    check_with_reference(parameters);
    check_input(xyz, parameters);
    const View<const float, 3> one(reference.data, Index{1}, reference.extent(0),
                                   reference.extent(1));
    check_others(xyz, one);
    const Metric& metric = metric_of(parameters.metric);
    check_sets(sets, xyz.extent(1), parameters);
    const Context own = one_rank(context);
    const Sides sides{xyz, one};
    RowParts parts(sides, sets, metric, parameters, own);
    ReferenceResult result;
    result.values.resize(static_cast<std::size_t>(xyz.extent(0)));
    RectangleSummary summary(xyz.extent(0), 1, measured_atoms(sets, xyz.extent(1)), parameters);
    PassingSink sink([&](Block rows, const float* values) {
        std::copy_n(values, rows.count, result.values.begin() + rows.first);
        summary.add(rows, values);
    });
    sweep(own, metric.name, row_tiles(xyz.extent(0), 1, parts), sink,
          [&](const Tile& tile, View<float, 2> output) {
              parts.compare_rows(tile.side[0], output.data);
          });
    result.summary = summary.finish(resolve_threads(context));
    return result;
}

}  // namespace pleat::rmsd
