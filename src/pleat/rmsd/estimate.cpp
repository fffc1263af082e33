// Estimate: sizes of packed frames, and seconds by the number of pairs.
#include "pleat/rmsd/estimate.h"

#include <algorithm>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/pairs/pair_order.h"
#include "pleat/rmsd/device_choice.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/pairs/pairs_run.h"

namespace pleat::rmsd {

double ComparedSizes::pairs() const {
    if (has_reference) return static_cast<double>(frames);
    return others > 0 ? static_cast<double>(frames) * static_cast<double>(others)
                      : static_cast<double>(pairs_before(frames, frames));
}

double near_atoms(double atoms) {
    // An atom has up to about 200 later atoms within 15 angstrom.
    return atoms * std::min((atoms - 1) / 2, 200.0);
}

double pair_seconds(Index atoms, const Parameters& parameters) {
    const auto count = static_cast<double>(atoms);
    switch (parameters.metric) {
        case Metric::rmsd: break;
        case Metric::drmsd: return 25e-9 + 0.05e-9 * count * (count - 1) / 2;
        case Metric::lddt: return 25e-9 + 0.2e-9 * near_atoms(count);
        case Metric::tm:
        case Metric::gdt_ts: return 3e-6 * count;
    }
    const double exactness = parameters.precision == FitPrecision::float64 ? 2 : 1;
    return (25e-9 + 0.3e-9 * count) * exactness;
}

double permuted_seconds(const AtomSets& sets, Index atoms) {
    const auto count = static_cast<double>(atoms);
    if (!sets.equal_chains.empty()) {
        double products = count;
        for (const auto& group : sets.equal_chains)
            products += static_cast<double>(group.size() * group.size() * group.front().size());
        // If there are more permutations, most are never tried.
        return 1e-9 *
               (1000 + 8 * products + 60 * std::min(permutation_count(sets), 2 * kMaxPermutations));
    }
    double orders = 0, products = 0;
    for (const auto& group : sets.equal_orders) {
        orders += static_cast<double>(group.size());
        products += static_cast<double>(group.size() * group.front().size());
    }
    return sets.are_one() ? 1e-9 * (2000 + 9 * (count + products) + 60 * orders)
                          : 1e-9 * (1000 + 5 * (count + products));
}

std::int64_t disk_needed(const ComparedSizes& sizes, const Parameters& parameters) {
    const bool has_matrix = parameters.matrix != MatrixLayout::none;
    if (sizes.has_reference ||
        !(has_matrix || parameters.nearest > 0 || parameters.cutoff.has_value()))
        return 0;
    const Index square = sizes.is_one_set() && parameters.matrix == MatrixLayout::full;
    const auto pairs = static_cast<Index>(sizes.pairs());
    return 4 * pairs + 4 * has_matrix * (square ? sizes.frames * sizes.frames : pairs);
}

Estimate estimate(const ComparedSizes& sizes, const Parameters& parameters, const Context& context,
                  const AtomSets& sets) {
    constexpr double kWriteSeconds = 8e-9;  // per number of the matrix, on one thread
    const bool is_one_set = sizes.is_one_set();
    const bool is_plain = is_one_set && parameters.metric == Metric::rmsd && !sizes.has_sets;
    const Index frames = sizes.all_frames();
    const Index columns = is_one_set ? sizes.frames - 1 : sizes.others;
    Estimate all;
    // Coordinates as read, and in the order of atoms for superposition.
    all.host_bytes = 24 * frames * sizes.atoms;
    all.host_bytes +=
        is_plain ? memory_needed(sizes.frames, sizes.atoms, parameters, {Device::Kind::cpu, 0})
                 : comparison_memory(frames, sizes.atoms, parameters.metric, sizes.has_sets) +
                       nearest_memory(sizes.frames, columns, parameters);
    const bool writes = parameters.matrix != MatrixLayout::none && !sizes.has_reference;
    const double written = writes ? kWriteSeconds * sizes.pairs() : 0;
    switch (context.device.kind) {
        case Device::Kind::reference: return all;
        case Device::Kind::cpu:
            all.seconds = 0.05 + written +
                          sizes.pairs() *
                              (sizes.pair_seconds > 0 ? sizes.pair_seconds
                                                      : pair_seconds(sizes.atoms, parameters)) /
                              resolve_threads(context);
            return all;
        case Device::Kind::cuda: break;
    }
    const auto needs = gpu_memory_and_time(sizes, sets, parameters);
    if (!needs) throw UsageError("GPUs do not compute this comparison; give --device cpu");
    all.gpu_bytes = all.min_gpu_bytes = needs->bytes;
    all.seconds = 0.05 + written + needs->seconds;
    return all;
}

std::int64_t gromos_gpu_memory(Index frames, Index atoms, const Parameters& parameters) {
    return std::max(memory_needed(frames, atoms, parameters, {Device::Kind::cuda, 0}),
                    clustering_memory(frames, atoms));
}

}  // namespace pleat::rmsd
