// Pairs run: bands to a file of tiles or straight to the summary, on one rank or several.
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
#include "pleat/rmsd/pairs/passing_sink.h"
#include "pleat/rmsd/pairs/summary.h"

namespace pleat::rmsd {

namespace {

/// The ranks of the context, or the group of one.
struct Ranks {
    explicit Ranks(const Context& context) : comm(context.comm ? *context.comm : alone) {}
    /// Calls `work` on this rank; where it throws, all ranks do.
    template <class Work>
    void together(const Work& work) {
        std::exception_ptr error;
        try {
            work();
        } catch (...) {
            error = std::current_exception();
        }
        agree_on_error(comm, error);
    }
    bool leads() const { return comm.rank() == 0; }

    Comm alone;
    Comm& comm;
};

/// Tiles go to one file, to which every rank writes its own; the leading one reads all.
void run_with_matrix(const PairsJob& job, const Parameters& parameters, const Context& context,
                     const std::filesystem::path& matrix, Summary& summary) {
    Ranks ranks(context);
    const bool has_checkpoint = !context.checkpoint.empty();
    std::filesystem::path place = context.checkpoint;
    if (!has_checkpoint) (place = matrix) += ".tiles";
    const std::string hash = job.hash();
    {
        std::optional<TileFile> file;
        const auto open = [&](bool now) {
            ranks.together([&] {
                if (now) file.emplace(place, hash, job.tiles);
            });
        };
        open(ranks.leads());  // makes the file
        open(!ranks.leads());
        sweep(context, parameters.metric, job.tiles, *file,
              [&](const Tile& tile, View<float, 2> output) {
                  job.kernel.band(tile.side[0], output.data);
              });
        ranks.together([&] {
            if (!ranks.leads()) return;
            for (const Tile& tile : job.tiles) summary.add(tile.side[0], file->output(tile).data);
            write_matrix(matrix, job.frames, job.tiles, *file, parameters.matrix == "full",
                         metric_of(parameters.metric).of_equals());
        });
    }
    if (!has_checkpoint && ranks.leads()) std::filesystem::remove(place);
}

/// Tiles go to memory at once, and none are kept.
void run_in_memory(const PairsJob& job, const Parameters& parameters, const Context& context,
                   std::span<float> matrix, Summary& summary) {
    if (context.comm != nullptr && context.comm->size() > 1)
        throw UsageError("expected a file for the matrix of several ranks, found memory");
    const Index frames = job.frames;
    const bool is_full = parameters.matrix == "full";
    PassingSink sink([&](Block rows, const float* values) {
        summary.add(rows, values);
        for (Index i = rows.first; i < rows.first + rows.count; ++i) {
            const Index count = frames - 1 - i;
            const Index at = is_full ? i * frames + i + 1 : pairs_before(i, frames);
            std::copy_n(values, count, matrix.data() + at);
            values += count;
        }
    });
    sweep(context, parameters.metric, job.tiles, sink,
          [&](const Tile& tile, View<float, 2> output) {
              job.kernel.band(tile.side[0], output.data);
          });
    if (is_full)
        complete_full(matrix.data(), frames, resolve_threads(context),
                      metric_of(parameters.metric).of_equals());
}

/// Sums and lists depend on more than values do.
std::string summary_hash(const PairsJob& job, const Parameters& parameters) {
    Sha256 hash;
    hash.field(job.hash()).field(parameters.bin).field(parameters.best);
    hash.field(parameters.has_cutoff() ? parameters.cutoff : 0.0);
    return hash.hex();
}

void run_without_matrix(const PairsJob& job, const Parameters& parameters, const Context& context,
                        Summary& summary) {
    const bool has_tally = job.kernel.can_tally() && parameters.best == 0;
    AdditiveCheckpoint sums(
        context, parameters.metric,
        context.checkpoint.empty() ? std::string() : summary_hash(job, parameters),
        static_cast<Index>(job.tiles.size()));
    summary.join(sums);
    sums.resume();
    std::vector<Tile> tiles = job.tiles;
    if (has_tally)
        for (Tile& tile : tiles) tile.items = 0;  // values stay on the device
    sweep(context, parameters.metric, tiles, sums, [&](const Tile& tile, View<float, 2> output) {
        const Block rows = tile.side[0];
        if (has_tally) {
            BandTally tally;
            job.kernel.tally(rows, tally);
            summary.add(rows, tally);
        } else {
            job.kernel.band(rows, output.data);
            summary.add(rows, output.data);
        }
    });
    sums.total();
}

}  // namespace

Result run_pairs(const PairsJob& job, const Parameters& parameters, const Context& context,
                 const MatrixPlace& matrix) {
    Summary summary(job.frames, job.atoms, parameters);
    if (parameters.matrix == "none")
        run_without_matrix(job, parameters, context, summary);
    else if (matrix.file.empty())
        run_in_memory(job, parameters, context, matrix.memory, summary);
    else
        run_with_matrix(job, parameters, context, matrix.file, summary);
    Ranks ranks(context);
    if (ranks.leads()) return summary.finish(resolve_threads(context));
    Result result;
    result.frames = job.frames;
    result.atoms = job.atoms;
    return result;
}

}  // namespace pleat::rmsd
