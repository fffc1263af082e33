// Device choice: which work goes to one GPU or several, by the memory that it needs.
#include "pleat/rmsd/device_choice.h"

#include <fmt/format.h>

#include <vector>

#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/pairs/pair_order.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/measures/permutations.h"

namespace pleat::rmsd {

namespace {

/// Whether the kernels of all pairs of one set by all its atoms compute it.
bool is_tiled_in_float32(const ComparedSizes& sizes, const AtomSets& sets) {
    return sets.are_plain() && sizes.is_one_set();
}

/// Seconds of an H200 per pair for two sets, for measured atoms other than the superposed ones,
/// without superposition or over permutations, including the copy of the value to the host
/// (bench/rmsd.md).
double permuted_gpu_seconds(const AtomSets& sets, double atoms) {
    constexpr double kCopied = 0.7e-9, kProduct = 0.15e-12, kAlone = 2e-12;
    double products = 9 * atoms;
    if (!sets.equal_chains.empty()) {
        for (const auto& group : sets.equal_chains)
            products +=
                9.0 * static_cast<double>(group.size() * group.size() * group.front().size());
        return kCopied + kProduct * products + 0.1e-9 * permutation_count(sets);
    }
    if (!sets.equal_orders.empty() && sets.are_one())
        return kCopied + 2 * kProduct * products + 0.1e-9 * order_count(sets);
    return kCopied + (sets.equal_orders.empty() ? kProduct : kAlone) * products;
}

/// Seconds of an H200 per pair; nothing if GPUs do not compute it.
std::optional<double> gpu_pair_seconds(const ComparedSizes& sizes, const AtomSets& sets,
                                       const Parameters& parameters) {
    const auto atoms = static_cast<double>(sizes.atoms);
    switch (parameters.metric) {
        case Metric::rmsd:
            if (!can_try_all(sets)) return std::nullopt;
            if (!is_tiled_in_float32(sizes, sets)) return permuted_gpu_seconds(sets, atoms);
            // Measured (README.md of this folder): 0.37 s for all pairs of 100,000 x 100.
            return 45e-12 + 0.28e-12 * atoms;
        case Metric::drmsd: return 20e-12 + 15e-15 * atoms * (atoms - 1);
        case Metric::lddt: return 1e-9 + 2e-12 * near_atoms(atoms);
        case Metric::tm:
        case Metric::gdt_ts: return 1e-9 * atoms * (0.8 + 0.033 * atoms);
    }
    return std::nullopt;
}

}  // namespace

std::optional<GpuDemand> gpu_memory_and_time(const ComparedSizes& sizes, const AtomSets& sets,
                                             const Parameters& parameters) {
    const std::optional<double> seconds = gpu_pair_seconds(sizes, sets, parameters);
    if (!seconds) return std::nullopt;
    const std::int64_t bytes =
        parameters.metric != Metric::rmsd ? comparison_gpu_memory(sizes.all_frames(), sizes.atoms)
        : is_tiled_in_float32(sizes, sets)
            ? memory_needed(sizes.frames, sizes.atoms, parameters, {Device::Kind::cuda, 0})
            // Fitted and measured atoms, each twice.
            : comparison_gpu_memory(4 * sizes.all_frames(), sizes.atoms);
    return GpuDemand{bytes, *seconds * sizes.pairs()};
}

std::optional<GpuDemand> gpu_demand(const ComparedSizes& sizes, const AtomSets& sets,
                                    const Parameters& parameters) {
    constexpr double kMinSeconds = 1.0;  // of one thread: a GPU takes 0.2 s to start
    const bool is_rmsd = parameters.metric == Metric::rmsd;
    // Copying a frame to a GPU takes longer than computing one RMSD.
    if (is_rmsd && sizes.has_reference) return std::nullopt;
    const double seconds =
        sizes.pair_seconds > 0 ? sizes.pair_seconds : pair_seconds(sizes.atoms, parameters);
    const bool is_slow = seconds * sizes.pairs() >= kMinSeconds;
    if (!is_slow && !(is_rmsd && is_tiled_in_float32(sizes, sets))) return std::nullopt;
    return gpu_memory_and_time(sizes, sets, parameters);
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
        require_memory(clustering, fmt::format("clusters of {} frames", frames),
                       "take fewer frames, --device auto or --device cpu",
                       gpus.free_bytes(context.device.index),
                       fmt::format(" on {}", context.device.name()));
    if (has_gpu || is_named) return {remark, has_gpu};
    ClusteringDevice second{choose_device(is_named, superposing, context, gpus), false};
    if (context.device.kind == Device::Kind::cuda)
        context.message(fmt::format("{} superposes alone, without room to find clusters ({})",
                                    context.device.name(), remark));
    return second;
}

namespace {

/// Seconds of an H200 for the histogram and the neighbours of all pairs (bench/cluster.md).
double clustering_seconds(Index frames, Index atoms) {
    return (40e-12 + 0.1e-12 * static_cast<double>(atoms)) *
           static_cast<double>(pairs_before(frames, frames));
}

/// Named GPUs that find clusters together.
ClusteringDevice named_clustering_gpus(Index frames, Index atoms, const Parameters& parameters,
                                       const Context& context, const GpuLookup& gpus,
                                       const PeerLookup& have_peer_access) {
    const std::string names = device_names(context);
    // Throws for missing GPUs, and starts all GPUs at once.
    std::vector<std::int64_t> free(context.lanes.size());
    parallel_for(static_cast<int>(free.size()), std::ssize(free),
                 [&](Index lane, int) { free[lane] = gpus.free_bytes(context.lanes[lane].index); });
    if (!have_peer_access(context.lanes)) {
        context.message(fmt::format(
            "{} superpose alone: they cannot read each other's memory, as finding clusters needs",
            names));
        return {fmt::format("devices {}, as asked for", names), false};
    }
    const std::int64_t bytes = gromos_gpu_memory(frames, atoms, parameters);
    for (std::size_t lane = 0; lane < free.size(); ++lane)
        require_memory(bytes, fmt::format("clusters of {} frames", frames),
                       "take fewer frames, --device auto or --device cpu", free[lane],
                       fmt::format(" on {}", context.lanes[lane].name()));
    return {fmt::format("devices {}, as asked for", names), true};
}

}  // namespace

ClusteringDevice choose_clustering_gpus(Index frames, Index atoms, const Parameters& parameters,
                                        bool is_gromos, bool is_named, Context& context,
                                        const GpuLookup& gpus, const PeerLookup& have_peer_access) {
    const bool has_lanes = !context.lanes.empty();
    if (is_gromos && has_lanes && context.device.kind == Device::Kind::cuda)
        return named_clustering_gpus(frames, atoms, parameters, context, gpus, have_peer_access);
    const auto choose_one = [&] {
        return choose_clustering_device(frames, atoms, parameters, is_gromos && !has_lanes,
                                        is_named, context, gpus);
    };
    ClusteringDevice chosen = choose_one();
    if (!is_gromos || is_named || has_lanes || !chosen.reduces || !gpus.count) return chosen;
    const GpuDemand demand{gromos_gpu_memory(frames, atoms, parameters),
                           clustering_seconds(frames, atoms)};
    const std::string more = add_gpus(demand, context, gpus);
    if (!have_peer_access(context.lanes)) context.lanes.clear();
    if (!context.lanes.empty()) chosen.remark += "; " + more;
    return chosen;
}

}  // namespace pleat::rmsd
