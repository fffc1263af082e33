// RMSD: check, centre, superpose band by band, and hand on to file or summary.
#include "pleat/rmsd/rmsd.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "pleat/core/error.h"
#include "pleat/core/hash.h"
#include "pleat/core/memory.h"
#include "pleat/core/parallel.h"
#include "pleat/core/sweep.h"
#include "pleat/rmsd/kernel.h"
#include "pleat/rmsd/matrix.h"
#include "pleat/rmsd/summary.h"

namespace pleat::rmsd {

namespace {

void check_input(View<const float, 3> xyz, std::span<const double> weights, Parameters parameters) {
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
    if (weights.empty()) return;
    if (static_cast<Index>(weights.size()) != xyz.extent(1))
        throw InputError(fmt::format("expected a weight for each of {} atoms, found {}",
                                     xyz.extent(1), weights.size()));
    double sum = 0.0;
    for (const double weight : weights) {
        if (!(weight >= 0 && weight <= 1e15))
            throw InputError(fmt::format("expected weights from 0 to 1e15, found {}", weight));
        sum += weight;
    }
    if (!(sum > 0)) throw InputError("expected a weight above 0, found none");
}

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

struct Job {
    std::span<const Tile> tiles;
    TileFunction compute;
    std::string hash;
    const Parameters& parameters;
    const Context& context;
};

void run_with_matrix(const Job& job, Index frames, const std::filesystem::path& matrix,
                     Summary& summary) {
    const bool has_checkpoint = !job.context.checkpoint.empty();
    std::filesystem::path place = job.context.checkpoint;
    if (!has_checkpoint) (place = matrix) += ".tiles";
    {
        TileFile file(place, job.hash, job.tiles);
        sweep(job.context, "rmsd", job.tiles, file, job.compute);
        for (const Tile& tile : job.tiles) summary.add(tile.side[0], file.output(tile).data);
        write_matrix(matrix, frames, job.tiles, file, job.parameters.matrix == "full");
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

Result run(View<const float, 3> xyz, std::span<const double> weights, const Parameters& parameters,
           const Context& context, const std::filesystem::path& matrix) {
    check_input(xyz, weights, parameters);
    const bool has_matrix = parameters.matrix != "none";
    if (has_matrix && matrix.empty())
        throw UsageError(
            "expected a file for the matrix, found none; take --matrix none without one");
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
    const std::vector<Tile> tiles = bands(frames);
    Summary summary(frames, atoms, parameters);
    Job job{
        tiles,
        [&](const Tile& tile, View<float, 2> output) { kernel->band(tile.side[0], output.data); },
        {},
        parameters,
        own};
    if (has_matrix) {
        job.hash = problem_hash(xyz, weights, parameters, context);
        run_with_matrix(job, frames, matrix, summary);
    } else {
        SummarySink sink(summary);
        sweep(own, "rmsd", tiles, sink, job.compute);
    }
    return summary.finish();
}

}  // namespace pleat::rmsd
