// Clustering GPUs: several GPUs whose memory holds the neighbours of all frames together.
#include "pleat/rmsd/clustering_gpus.h"

#include <fmt/format.h>

#include <vector>

#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/pairs/pair_order.h"
#include "pleat/rmsd/estimate.h"

namespace pleat::rmsd {

namespace {

/// The fewest GPUs that hold the neighbours of all frames together and can read each other's
/// memory; none if there are not enough.
std::vector<Device> gpus_that_hold(Index frames, Index atoms, const Parameters& parameters,
                                   const GpuLookup& gpus, const PeerLookup& can_read) {
    if (!gpus.count || gpus.count() < 2) return {};
    const CudaDevices found = gpus.all();
    for (int parts = 2; parts <= static_cast<int>(found.devices.size()); ++parts) {
        const std::int64_t bytes = gromos_gpu_memory(frames, atoms, parameters, parts);
        std::vector<Device> holding;
        for (const CudaDevice& gpu : found.devices)
            if (gpu.usable && gpu.free_bytes >= bytes && std::ssize(holding) < parts)
                holding.push_back({Device::Kind::cuda, gpu.index});
        if (std::ssize(holding) == parts && can_read(holding)) return holding;
    }
    return {};
}

/// Seconds of an H200 for the histogram and the neighbours of all pairs (cluster/README.md).
double clustering_seconds(Index frames, Index atoms) {
    return (60e-12 + 0.7e-12 * static_cast<double>(atoms)) *
           static_cast<double>(pairs_before(frames, frames));
}

/// Named GPUs that find clusters together.
ClusteringDevice named_clustering_gpus(Index frames, Index atoms, const Parameters& parameters,
                                       const Context& context, const GpuLookup& gpus,
                                       const PeerLookup& can_read) {
    const std::string names = device_names(context);
    // Also refuses a GPU that is missing, and starts all at once.
    std::vector<std::int64_t> free(context.lanes.size());
    parallel_for(static_cast<int>(free.size()), std::ssize(free),
                 [&](Index lane, int) { free[lane] = gpus.free_bytes(context.lanes[lane].index); });
    if (!can_read(context.lanes)) {
        context.message(fmt::format(
            "{} superpose alone: they cannot read each other's memory, as finding clusters needs",
            names));
        return {fmt::format("devices {}, as asked for", names), false};
    }
    const auto count = static_cast<int>(context.lanes.size());
    const std::int64_t bytes = gromos_gpu_memory(frames, atoms, parameters, count);
    for (std::size_t lane = 0; lane < free.size(); ++lane)
        require_memory(bytes,
                       fmt::format("neighbours of {} frames on one of {} GPUs", frames, count),
                       "take fewer frames, more GPUs, --device auto or --device cpu", free[lane],
                       fmt::format(" on {}", context.lanes[lane].name()));
    return {fmt::format("devices {}, as asked for", names), true};
}

}  // namespace

ClusteringDevice choose_clustering_gpus(Index frames, Index atoms, const Parameters& parameters,
                                        bool is_gromos, bool is_named, Context& context,
                                        const GpuLookup& gpus, const PeerLookup& can_read) {
    const bool has_lanes = !context.lanes.empty();
    if (is_gromos && has_lanes && context.device.kind == Device::Kind::cuda)
        return named_clustering_gpus(frames, atoms, parameters, context, gpus, can_read);
    const auto choose_one = [&] {
        return choose_clustering_device(frames, atoms, parameters, is_gromos && !has_lanes,
                                        is_named, context, gpus);
    };
    if (!is_gromos || is_named || has_lanes) return choose_one();
    const std::int64_t alone = gromos_gpu_memory(frames, atoms, parameters);
    if (gpus.choose(alone).device.kind != Device::Kind::cuda) {
        const std::vector<Device> holding =
            gpus_that_hold(frames, atoms, parameters, gpus, can_read);
        if (holding.empty()) return choose_one();
        context.device = holding.front();
        context.lanes = holding;
        return {fmt::format("devices {}: they hold the neighbours together, {} each",
                            device_names(context),
                            human_bytes(gromos_gpu_memory(frames, atoms, parameters,
                                                          static_cast<int>(holding.size())))),
                true};
    }
    ClusteringDevice chosen = choose_one();
    if (!gpus.count) return chosen;
    const std::string more = add_gpus({alone, clustering_seconds(frames, atoms)}, context, gpus);
    if (!can_read(context.lanes)) context.lanes.clear();
    if (!context.lanes.empty()) chosen.remark += "; " + more;
    return chosen;
}

}  // namespace pleat::rmsd
