// Device choice: which work goes to a GPU, by the memory that it needs.
#include "pleat/rmsd/device_choice.h"

#include <fmt/format.h>

#include "pleat/core/hardware/memory.h"
#include "pleat/core/pairs/pair_order.h"
#include "pleat/rmsd/estimate.h"

namespace pleat::rmsd {

std::optional<GpuDemand> gpu_demand(Index frames, Index atoms, const AtomSets& sets,
                                    const Parameters& parameters, bool is_one_set) {
    if (parameters.metric != Metric::rmsd || !sets.are_plain() || !is_one_set) return std::nullopt;
    // Measured on an H200 (README.md of this folder): 0.37 s for all pairs of 100,000 x 100.
    const double pair_seconds = 45e-12 + 0.28e-12 * static_cast<double>(atoms);
    return GpuDemand{memory_needed(frames, atoms, parameters, {Device::Kind::cuda, 0}),
                     pair_seconds * static_cast<double>(pairs_before(frames, frames))};
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
                       "take fewer frames, more GPUs, --device auto or --device cpu",
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
