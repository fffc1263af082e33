// Hydration: exposed points of each frame, found by the CPU or by a GPU, make its layer.
#include "pleat/saxs/model/hydration.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "pleat/core/loops/steps.h"
#include "pleat/core/ranks/gather_rows.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/model/accessibility.h"

namespace pleat::saxs {

namespace {

// A water molecule has a radius of 1.4 angstrom; sites are two of these beyond the surface.
constexpr double kProbe = 1.4, kBeyond = 2 * kProbe, kAtomRadius = 1.9;
// An atom that is exposed on all sides, such as an ion, has no direction.
constexpr double kMinDirection = 0.05;

/// The amount of water that touches an atom, and its position relative to the atom's centre.
struct WaterSite {
    double amount = 0;
    double from[3] = {};
};

WaterSite water_site(const Exposure& exposure, double radius) {
    const double ratio = (radius + kProbe) / (kAtomRadius + kProbe);
    WaterSite water;
    water.amount = static_cast<double>(exposure.fraction) * ratio * ratio;
    const double length =
        std::hypot(exposure.direction[0], exposure.direction[1], exposure.direction[2]);
    if (length < kMinDirection) return water;
    for (int axis = 0; axis < 3; ++axis)
        water.from[axis] =
            (radius + kBeyond) * static_cast<double>(exposure.direction[axis]) / length;
    return water;
}

/// The positions [axis, member] of the scatterers' atoms in a frame.
Array<float, 2> member_positions(const Scatterers& scatterers, View<const float, 2> frame) {
    const auto members = static_cast<Index>(scatterers.members.size());
    Array<float, 2> centres(3, members);
    for (Index axis = 0; axis < 3; ++axis) {
        for (Index m = 0; m < members; ++m)
            centres(axis, m) = frame(axis, scatterers.members[static_cast<std::size_t>(m)]);
    }
    return centres;
}

/// Sets the layer [amount and site, scatterer] of a frame. `exposure_of_member(m)`: that of the
/// m-th atom, at `centres`.
template <class ExposureOfMember>
void set_layer(const Scatterers& scatterers, View<const float, 2> frame,
               View<const float, 2> centres, const ExposureOfMember& exposure_of_member,
               View<float, 2> layer) {
    const Index count = scatterers.count();
    const View<float, 2> sites(layer[1].data, 3, count);
    std::fill_n(layer.data, count, 0.0f);
    set_centres_of_mass(scatterers, frame, sites);
    for (Index s = 0; s < count; ++s) {
        double amount = 0, sum[3] = {};
        for (Index m = scatterers.starts[static_cast<std::size_t>(s)];
             m < scatterers.starts[static_cast<std::size_t>(s) + 1]; ++m) {
            const WaterSite water =
                water_site(exposure_of_member(m), scatterers.radii[static_cast<std::size_t>(m)]);
            amount += water.amount;
            for (Index axis = 0; axis < 3; ++axis)
                sum[axis] +=
                    water.amount * (static_cast<double>(centres(axis, m)) + water.from[axis]);
        }
        if (amount == 0) continue;
        layer(0, s) = static_cast<float>(amount);
        for (Index axis = 0; axis < 3; ++axis)
            sites(axis, s) = static_cast<float>(sum[axis] / amount);
    }
}

void find_layers_on_cpu(View<const float, 3> xyz, const Scatterers& scatterers,
                        const Context& context, View<float, 3> layers) {
    const RankRows rows(context);
    const Index frames = rows.count_of(xyz.extent(0));
    const Index block = frames < resolve_threads(context) ? 1 : 64;
    const auto compute = [&](Index first, Index count) {
        parallel_for_frames(context, count, [&](Index n, const Context& of_frame) {
            const Index frame = rows.row(first + n);
            const Array<float, 2> centres = member_positions(scatterers, xyz[frame]);
            const std::vector<Exposure> all =
                exposures(centres, scatterers.radii, kProbe, of_frame);
            const auto of_member = [&](Index m) { return all[static_cast<std::size_t>(m)]; };
            set_layer(scatterers, xyz[frame], centres, of_member, layers[frame]);
        });
    };
    for_each_block(context, "hydration", frames, block, compute, "frames");
}

}  // namespace

std::vector<double> surface_reach(const Scatterers& scatterers) {
    std::vector<double> reach = scatterers.radii;
    for (double& one : reach) one += kProbe;
    return reach;
}

void find_layers_with(SurfaceKernel& kernel, View<const float, 3> xyz, const Scatterers& scatterers,
                      const Context& context, View<float, 3> layers) {
    const RankRows rows(context);
    const Index frames = rows.count_of(xyz.extent(0)), at_once = kernel.max_frames();
    const int threads = resolve_threads(context);
    const std::vector<double> reach = surface_reach(scatterers);
    const Array<double, 2> points = surface_points();
    StageProgress progress(context, "hydration", frames, "frames");
    progress.check();
    const auto prepare = [&](Index first, Index count, const SurfaceBlock& block) {
        cancellable_parallel_for(context, threads, count, [&](Index n, int) {
            block.set_frame(n, member_positions(scatterers, xyz[rows.row(first + n)]), reach);
        });
    };
    const auto keep = [&](Index first, Index count, const SurfaceBlock& block) {
        cancellable_parallel_for(context, threads, count, [&](Index n, int) {
            const Index frame = rows.row(first + n);
            const auto of_member = [&](Index m) {
                return exposure_of(block.exposed(n, m), points);
            };
            set_layer(scatterers, xyz[frame], member_positions(scatterers, xyz[frame]), of_member,
                      layers[frame]);
        });
        progress.advance_to(first + count);
    };
    // The GPU computes one block while the host keeps the one before it and prepares the next.
    const auto count_from = [&](Index first) { return std::min(at_once, frames - first); };
    for (Index first = 0, which = 0; first < frames + at_once;
         first += at_once, which = 1 - which) {
        const Index before = first - at_once;
        if (first < frames) prepare(first, count_from(first), kernel.block(which));
        if (before >= 0) kernel.finish();
        if (first < frames) kernel.start(which, count_from(first));
        if (before >= 0) keep(before, count_from(before), kernel.block(1 - which));
    }
}

bool finds_surfaces_on_gpu(Index frames, const Context& context) {
    return context.device.kind == Device::Kind::cuda && frames / context.ranks() >= kMinFramesOnGpu;
}

Array<float, 3> hydration_layers(View<const float, 3> xyz, const Scatterers& scatterers,
                                 const Context& context) {
    const Index frames = xyz.extent(0);
    auto layers = Array<float, 3>::unset(frames, 4, scatterers.count());
    if (finds_surfaces_on_gpu(frames, context) && !scatterers.members.empty()) {
        const std::unique_ptr<SurfaceKernel> kernel = make_cuda_surface_kernel(
            surface_reach(scatterers), RankRows(context).count_of(frames), context.device.index);
        find_layers_with(*kernel, xyz, scatterers, context, layers);
    } else {
        find_layers_on_cpu(xyz, scatterers, context, layers);
    }
    all_gather_rows(context, View<float, 2>(layers.data(), frames, 4 * scatterers.count()));
    return layers;
}

}  // namespace pleat::saxs
