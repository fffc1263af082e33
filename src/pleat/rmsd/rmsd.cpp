// RMSD: check, centre, superpose band by band, and hand on to file or summary.
#include "pleat/rmsd/rmsd.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/rmsd/cuda/tile_pack.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/measures/measures.h"
#include "pleat/rmsd/pairs/matrix.h"
#include "pleat/rmsd/pairs/pairs_run.h"

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

std::int64_t best_memory(Index frames, Index others, const Parameters& parameters) {
    return 8 * frames * std::clamp<Index>(parameters.best, 0, std::max<Index>(others, 0));
}

Index matrix_size(Index frames, const Parameters& parameters) {
    return parameters.matrix == "full"        ? frames * frames
           : parameters.matrix == "condensed" ? frames * (frames - 1) / 2
                                              : 0;
}

void check_matrix(const Parameters& parameters, const MatrixPlace& matrix, Index size) {
    if (parameters.matrix == "none") return;
    if (matrix.file.empty() && matrix.memory.data() == nullptr && size > 0)
        throw UsageError(
            "expected a file for the matrix, found none; take --matrix none without one");
    if (matrix.file.empty() && static_cast<Index>(matrix.memory.size()) != size)
        throw UsageError(fmt::format("expected memory for a matrix of {} numbers, found {}", size,
                                     matrix.memory.size()));
}

namespace {

std::string problem_hash(View<const float, 3> xyz, std::span<const double> weights,
                         const Parameters& parameters, const Context& context) {
    Sha256 hash;
    hash.field(xyz).field(context.device.kind_name()).field(parameters.precision);
    // Values are settled where they are near to these.
    hash.field(parameters.has_cutoff() ? parameters.cutoff : 0.0);
    if (context.device.kind == Device::Kind::cuda) hash.field(parameters.bin);
    for (const double weight : weights) hash.field(weight);
    return hash.hex();
}

/// Bands for the device: of a GPU as many pairs as it takes a moment for.
std::vector<Tile> tiles_for(const Kernel& kernel, Index frames, const Parameters& parameters,
                            const Context& context) {
    if (context.device.kind != Device::Kind::cuda) return bands(frames);
    constexpr Index kTallied = Index{1} << 28, kStored = Index{1} << 24;
    const bool has_values =
        parameters.matrix != "none" || parameters.best > 0 || !kernel.can_tally();
    return bands(frames, has_values ? kStored : kTallied, kTileRows);
}

}  // namespace

std::int64_t memory_needed(Index frames, Index atoms, const Parameters& parameters,
                           const Device& device) {
    const std::int64_t coordinates = 3 * frames * atoms, band = 8 * 48 * frames;
    // Beside the ensemble: values of a part of a band, neighbours of a band, what is left free.
    if (device.kind == Device::Kind::cuda)
        return tile_memory(frames, atoms, TileFormat::floats) +
               std::min<std::int64_t>(4 * pairs_before(frames, frames), std::int64_t{1} << 28) +
               (std::int64_t{512} << 20);
    // Centred in float64, and packed twice in the type of the product.
    const std::int64_t packed = parameters.precision == "float64" ? 16 : 8;
    return (8 + packed) * coordinates + 200 * frames + band +
           best_memory(frames, frames - 1, parameters) + (std::int64_t{32} << 20);
}

Result run(View<const float, 3> xyz, std::span<const double> weights, const Parameters& parameters,
           const Context& context, const MatrixPlace& matrix) {
    if (parameters.metric != "rmsd")
        return run(xyz, AtomSets{{}, {}, {weights.begin(), weights.end()}}, parameters, context,
                   matrix);
    check_input(xyz, parameters);
    check(AtomSets{{}, {}, {weights.begin(), weights.end()}}, xyz.extent(1));
    check_matrix(parameters, matrix, matrix_size(xyz.extent(0), parameters));
    const Index frames = xyz.extent(0), atoms = xyz.extent(1);
    require_memory(memory_needed(frames, atoms, parameters, {Device::Kind::cpu, 0}),
                   fmt::format("{} frames of {} atoms", frames, atoms),
                   "take fewer frames or atoms");
    const Frames centred = centre(xyz, weights, resolve_threads(context));
    const Problem problem{&centred,
                          parameters.precision == "float64" ? Precision::float64 : Precision::mixed,
                          {parameters.bin, parameters.has_cutoff() ? parameters.cutoff : 0.0}};
    const std::unique_ptr<Kernel> kernel = make_kernel(problem, context);
    const auto hash = [&] { return problem_hash(xyz, weights, parameters, context); };
    return run_pairs(
        {*kernel, frames, atoms, tiles_for(*kernel, frames, parameters, context), hash}, parameters,
        context, matrix);
}

}  // namespace pleat::rmsd
