// Pairs run: bands to a file of tiles or straight to the result, on one rank or several.
#include "pleat/rmsd/pairs/pairs_run.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/loops/additive_checkpoint.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/tile_file.h"
#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/pairs/matrix.h"
#include "pleat/rmsd/pairs/pair_collector.h"

namespace pleat::rmsd {

namespace {

/// Calls `work` on this rank; if it throws on any rank, all ranks throw.
template <class Work>
void together(const Context& context, const Work& work) {
    std::exception_ptr error;
    try {
        work();
    } catch (...) {
        error = std::current_exception();
    }
    agree_on_error(context, error);
}

/// Every rank writes its tiles to one file; rank 0 reads all of them.
void run_with_matrix(const PairsJob& job, const Parameters& parameters, const Context& context,
                     const MatrixTarget& matrix, PairCollector& pairs) {
    const MetricTraits& metric = traits_of(parameters.metric);
    const std::filesystem::path path = tile_path(context, matrix);
    const std::string hash = job.hash();
    const bool leads = context.rank() == 0;
    {
        std::optional<TileFile> file;
        const auto open = [&](bool now) {
            together(context, [&] {
                if (now) file.emplace(path, hash, job.tiles);
            });
        };
        open(leads);  // creates the file
        open(!leads);
        sweep(context, metric.name, job.tiles, *file, [&](const Tile& tile, View<float, 2> output) {
            job.kernel.band(tile.side[0], output.data);
        });
        together(context, [&] {
            if (!leads) return;
            for (const Tile& tile : job.tiles) pairs.add(tile.side[0], file->output(tile).data);
            if (job.others)
                write_rectangle(matrix.file, job.frames, *job.others, job.tiles, *file);
            else
                write_matrix(matrix.file, job.frames, job.tiles, *file,
                             parameters.matrix == MatrixLayout::full,
                             metric.value_of_equal_structures());
        });
    }
    if (context.checkpoint.empty() && leads) std::filesystem::remove(path);
}

/// Values go to memory at once, and no tiles are kept.
void run_in_memory(const PairsJob& job, const Parameters& parameters, const Context& context,
                   std::span<float> matrix, PairCollector& pairs) {
    if (context.ranks() > 1)
        throw UsageError("a matrix in memory needs one rank: give a file for the matrix");
    const Index frames = job.frames;
    const MetricTraits& metric = traits_of(parameters.metric);
    const bool is_full = parameters.matrix == MatrixLayout::full;
    std::vector<float> band;
    for_each_tile(context, metric.name, job.tiles, {.compute = [&](const Tile& tile) {
                      const Block rows = tile.side[0];
                      band.resize(static_cast<std::size_t>(tile.items));
                      job.kernel.band(rows, band.data());
                      pairs.add(rows, band.data());
                      const float* values = band.data();
                      for (Index i = rows.first; i < rows.first + rows.count; ++i) {
                          const Index count = job.others.value_or(frames - 1 - i);
                          const Index at = job.others ? i * count
                                           : is_full  ? i * frames + i + 1
                                                      : pairs_before(i, frames);
                          std::copy_n(values, count, matrix.data() + at);
                          values += count;
                      }
                  }});
    if (is_full && !job.others)
        complete_full(matrix.data(), frames, resolve_threads(context),
                      metric.value_of_equal_structures());
}

void run_without_matrix(const PairsJob& job, const Parameters& parameters, const Context& context,
                        PairCollector& pairs) {
    BandCounter* const counter = parameters.nearest == 0 ? job.kernel.counter() : nullptr;
    std::vector<Tile> tiles = job.tiles;
    if (counter != nullptr)
        for (Tile& tile : tiles) tile.items = 0;  // values stay on the device
    PairCounts counts;
    // Sums and lists depend on more options than values do.
    const auto hash = [&] {
        return Sha256()
            .field(job.hash())
            .field(parameters.bin_width)
            .field(parameters.nearest)
            .field(parameters.cutoff.value_or(0.0))
            .hex();
    };
    sum_over_tiles(
        context, traits_of(parameters.metric).name, tiles, hash,
        [&](AdditiveCheckpoint& sums) { pairs.join(sums); },
        [&](const Tile& tile, View<float, 2> output) {
            counts = {};
            counter != nullptr ? counter->count(tile.side[0], counts)
                               : job.kernel.band(tile.side[0], output.data);
        },
        [&](const Tile& tile, View<const float, 2> output) {
            counter != nullptr ? pairs.add(tile.side[0], counts)
                               : pairs.add(tile.side[0], output.data);
        });
}

}  // namespace

std::filesystem::path tile_path(const Context& context, const MatrixTarget& matrix) {
    std::filesystem::path path = context.checkpoint;
    if (path.empty()) (path = matrix.file) += ".tiles";
    return path;
}

Result run_pairs(const PairsJob& job, const Parameters& parameters, const Context& context,
                 const MatrixTarget& matrix) {
    PairCollector pairs(job.frames, job.others, job.atoms, parameters, resolve_threads(context));
    if (parameters.matrix == MatrixLayout::none)
        run_without_matrix(job, parameters, context, pairs);
    else if (matrix.file.empty())
        run_in_memory(job, parameters, context, matrix.memory, pairs);
    else
        run_with_matrix(job, parameters, context, matrix, pairs);
    if (context.rank() == 0) return pairs.finish();
    Result result;
    result.frames = job.frames;
    result.atoms = job.atoms;
    return result;
}

}  // namespace pleat::rmsd
