// RMSD: check, centre, superpose band by band, and hand on to file or summary.
#include "pleat/rmsd/rmsd.h"

#include <fmt/format.h>

#include <limits>

#include "pleat/core/error.h"
#include "pleat/core/hash.h"
#include "pleat/core/memory.h"
#include "pleat/core/parallel.h"
#include "pleat/core/sweep.h"
#include "pleat/rmsd/kernel.h"
#include "pleat/rmsd/matrix.h"
#include "pleat/rmsd/measures.h"
#include "pleat/rmsd/pairs_run.h"
#include "pleat/rmsd/summary.h"

namespace pleat::rmsd {

void check_input(View<const float, 3> xyz, Parameters parameters) {
    check(fields(parameters));
    if (xyz.extent(2) != 3)
        throw InputError(fmt::format(
            "expected coordinates [frame, atom, 3], found {} on the last axis", xyz.extent(2)));
    if (xyz.extent(0) < 1 || xyz.extent(1) < 1)
        throw InputError(fmt::format("expected at least 1 frame and 1 atom, found {} and {}",
                                     xyz.extent(0), xyz.extent(1)));
    if (xyz.extent(0) > std::numeric_limits<std::int32_t>::max())
        throw InputError(
            fmt::format("expected at most 2147483647 frames, found {}", xyz.extent(0)));
}

void check_matrix(const Parameters& parameters, const std::filesystem::path& matrix) {
    if (parameters.matrix != "none" && matrix.empty())
        throw UsageError(
            "expected a file for the matrix, found none; take --matrix none without one");
}

namespace {

std::string problem_hash(View<const float, 3> xyz, std::span<const double> weights,
                         const Parameters& parameters, const Context& context) {
    Sha256 hash;
    hash.field(xyz).field(context.device.kind_name()).field(parameters.precision);
    for (const double weight : weights) hash.field(weight);
    return hash.hex();
}

/// Passes bands on to the summary and keeps nothing.
class SummarySink final : public TileSink {
public:
    explicit SummarySink(Summary& summary) : summary_(summary) {}
    bool has(const Tile&) const override { return false; }
    void put(const Tile& tile, View<const float, 2> output) override {
        summary_.add(tile.side[0], output.data);
    }

private:
    Summary& summary_;
};

void run_with_matrix(const PairsJob& job, const TileFunction& compute, const Parameters& parameters,
                     const Context& context, const std::filesystem::path& matrix,
                     Summary& summary) {
    const bool has_checkpoint = !context.checkpoint.empty();
    std::filesystem::path place = context.checkpoint;
    if (!has_checkpoint) (place = matrix) += ".tiles";
    {
        TileFile file(place, job.hash(), job.tiles);
        sweep(context, parameters.metric, job.tiles, file, compute);
        for (const Tile& tile : job.tiles) summary.add(tile.side[0], file.output(tile).data);
        write_matrix(matrix, job.frames, job.tiles, file, parameters.matrix == "full",
                     metric_of(parameters.metric).of_equals());
    }
    if (!has_checkpoint) std::filesystem::remove(place);
}

}  // namespace

std::int64_t memory_needed(Index frames, Index atoms, const Parameters& parameters,
                           const Device& device) {
    const std::int64_t coordinates = 3 * frames * atoms, band = 8 * 48 * frames;
    if (device.kind == Device::Kind::cuda)
        return 8 * coordinates + 2 * band + (std::int64_t{16} << 20);
    // Centred in float64, and packed twice in the type of the product.
    const std::int64_t packed = parameters.precision == "float64" ? 16 : 8;
    return (8 + packed) * coordinates + 200 * frames + band + 8 * parameters.best * frames +
           (std::int64_t{32} << 20);
}

Result run_pairs(const PairsJob& job, const Parameters& parameters, const Context& context,
                 const std::filesystem::path& matrix) {
    Summary summary(job.frames, job.atoms, parameters);
    const TileFunction compute = [&](const Tile& tile, View<float, 2> output) {
        job.kernel.band(tile.side[0], output.data);
    };
    if (parameters.matrix != "none") {
        run_with_matrix(job, compute, parameters, context, matrix, summary);
    } else {
        SummarySink sink(summary);
        sweep(context, parameters.metric, job.tiles, sink, compute);
    }
    return summary.finish();
}

Result run(View<const float, 3> xyz, std::span<const double> weights, const Parameters& parameters,
           const Context& context, const std::filesystem::path& matrix) {
    if (parameters.metric != "rmsd")
        return run(xyz, AtomSets{{}, {}, {weights.begin(), weights.end()}}, parameters, context,
                   matrix);
    check_input(xyz, parameters);
    check(AtomSets{{}, {}, {weights.begin(), weights.end()}}, xyz.extent(1));
    check_matrix(parameters, matrix);
    const Index frames = xyz.extent(0), atoms = xyz.extent(1);
    require_memory(memory_needed(frames, atoms, parameters, {Device::Kind::cpu, 0}),
                   fmt::format("{} frames of {} atoms", frames, atoms),
                   "take fewer frames or atoms");
    Context own = context;
    own.comm = nullptr;
    const Frames centred = centre(xyz, weights, resolve_threads(context));
    const Problem problem{
        &centred, parameters.precision == "float64" ? Precision::float64 : Precision::mixed};
    const std::unique_ptr<Kernel> kernel = make_kernel(problem, own);
    const auto hash = [&] { return problem_hash(xyz, weights, parameters, context); };
    return run_pairs({*kernel, frames, atoms, bands(frames), hash}, parameters, own, matrix);
}

}  // namespace pleat::rmsd
