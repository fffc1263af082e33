// Device choice: which work goes to a GPU, by the memory that it needs.
#include "pleat/rmsd/device_choice.h"

#include <fmt/format.h>

#include "pleat/core/hardware/memory.h"
#include "pleat/core/pairs/pair_order.h"
#include "pleat/rmsd/estimate.h"
#include "pleat/rmsd/measures/comparison.h"

namespace pleat::rmsd {

namespace {

/// Seconds of an H200 per pair; nothing if GPUs do not compute it.
std::optional<double> gpu_pair_seconds(const ComparedSizes& sizes, const AtomSets& sets,
                                       const Parameters& parameters) {
    const auto atoms = static_cast<double>(sizes.atoms);
    switch (parameters.metric) {
        case Metric::rmsd:
            if (!sets.are_plain() || !sizes.is_one_set()) return std::nullopt;
            // Measured (README.md of this folder): 0.37 s for all pairs of 100,000 x 100.
            return 45e-12 + 0.28e-12 * atoms;
        case Metric::drmsd: return 20e-12 + 15e-15 * atoms * (atoms - 1);
        case Metric::lddt: return 1e-9 + 2e-12 * near_atoms(atoms);
        case Metric::tm:
        case Metric::gdt_ts: return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

std::optional<GpuDemand> gpu_needs(const ComparedSizes& sizes, const AtomSets& sets,
                                   const Parameters& parameters) {
    const std::optional<double> seconds = gpu_pair_seconds(sizes, sets, parameters);
    if (!seconds) return std::nullopt;
    const std::int64_t bytes =
        parameters.metric == Metric::rmsd
            ? memory_needed(sizes.frames, sizes.atoms, parameters, {Device::Kind::cuda, 0})
            : comparison_gpu_memory(sizes.all_frames(), sizes.atoms);
    return GpuDemand{bytes, *seconds * sizes.pairs()};
}

std::optional<GpuDemand> gpu_demand(const ComparedSizes& sizes, const AtomSets& sets,
                                    const Parameters& parameters) {
    constexpr double kMinSeconds = 1.0;  // of one thread: a GPU takes 0.2 s to start
    const bool is_slow = pair_seconds(sizes.atoms, parameters) * sizes.pairs() >= kMinSeconds;
    if (parameters.metric != Metric::rmsd && !is_slow) return std::nullopt;
    std::optional<GpuDemand> demand = gpu_needs(sizes, sets, parameters);
    // Two sets are compared on one device: more of them save nothing.
    if (demand && !sizes.is_one_set()) demand->seconds = 0;
    return demand;
}

ClusteringDevice choose_clustering_device(Index frames, Index atoms, const Parameters& parameters,
                                          bool is_gromos, bool is_named, Context& context,
                                          const GpuLookup& gpus) {
    const std::int64_t superposing =
        memory_needed(frames, atoms, parameters, {Device::Kind::cuda, 0});
    if (!is_gromos) return {choose_device(is_named, superposing, context, gpus), false};
    const std::int64_t clustering = gromos_gpu_memory(frames, atoms, parameters);
    const std::string remark = choose_device(is_named, clustering, context, gpus);
    const bool has_gpu = context.device.kind == Device::Kind::cuda;
    if (has_gpu && is_named)
        require_memory(clustering, fmt::format("neighbours of {} frames", frames),
                       "take fewer frames, --device auto or --device cpu",
                       gpus.free_bytes(context.device.index),
                       fmt::format(" on {}", context.device.name()));
    if (has_gpu || is_named) return {remark, has_gpu};
    ClusteringDevice second{choose_device(is_named, superposing, context, gpus), false};
    if (context.device.kind == Device::Kind::cuda)
        context.message(
            fmt::format("{} superposes alone, without room for the neighbours of all frames ({})",
                        context.device.name(), remark));
    return second;
}

}  // namespace pleat::rmsd
