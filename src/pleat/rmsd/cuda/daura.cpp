// Daura's clustering on a GPU: checks, centring, and what it takes.
#include "pleat/rmsd/cuda/daura.h"

#include <fmt/format.h>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/cuda/tile_bits.h"
#include "pleat/rmsd/cuda/tile_pack.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/pairs/atom_sets.h"
#include "pleat/rmsd/pairs/pairs_run.h"

namespace pleat::rmsd {

DauraClusters daura_on_gpu(View<const float, 3> xyz, std::span<const double> weights, double cutoff,
                           const Context& context) {
    check_input(xyz, {});
    check(AtomSets{{}, {}, {weights.begin(), weights.end()}}, xyz.extent(1));
    if (!(cutoff > 0))
        throw UsageError(fmt::format("expected a cut-off above 0, found {}", cutoff));
    const Frames frames = centre(xyz, weights, resolve_threads(context));
    return cluster_on_cuda(frames, cutoff, context);
}

std::int64_t daura_memory(Index frames, Index atoms) {
    return tile_memory(frames, atoms, TileFormat::half) + bit_memory(frames) +
           (std::int64_t{256} << 20);
}

}  // namespace pleat::rmsd
