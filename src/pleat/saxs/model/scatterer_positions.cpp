// Places: frames side by side on threads and ranks, sites chosen from all of them.
#include "pleat/saxs/model/scatterer_positions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/shared_rows.h"
#include "pleat/saxs/cancellable_parallel.h"

namespace pleat::saxs {

namespace {

/// The hydration layers of all frames, [frame, amount and site (x, y, z), scatterer]. Ranks take
/// frames in turn. Many frames take a thread each, few share all threads in turn; the values are
/// the same.
Array<float, 3> hydrate_all(View<const float, 3> xyz, const Scatterers& scatterers,
                            const Context& context) {
    const Turn turn(context);
    const Index frames = turn.own_count(xyz.extent(0));
    const int threads = resolve_threads(context);
    const bool one_by_one = frames < threads;
    const Index block = one_by_one ? 1 : 64;
    auto layers = Array<float, 3>::unset(xyz.extent(0), 4, scatterers.count());
    for (Index from = 0; from < frames; from += block) {
        context.update("hydration", from, frames, "frames");
        const Index count = std::min(block, frames - from);
        parallel_for(one_by_one ? 1 : threads, count, [&](Index n, int thread) {
            Context own = context_of_thread(context, thread);
            if (!one_by_one) own.threads = 1;
            const Index frame = turn.own(from + n);
            const Hydration layer = hydrate(scatterers, xyz[frame], own);
            float* const to = layers[frame].data;
            std::copy(layer.sites.begin(), layer.sites.end(),
                      std::copy(layer.amounts.begin(), layer.amounts.end(), to));
        });
    }
    context.update("hydration", frames, frames, "frames");
    share_rows(context, View<float, 2>(layers.data(), xyz.extent(0), 4 * scatterers.count()));
    return layers;
}

}  // namespace

ScattererPositions scatterer_positions(View<const float, 3> xyz, const Scatterers& scatterers, bool with_hydration,
                 const Context& context) {
    const Index frames = xyz.extent(0), count = scatterers.count();
    Array<float, 3> layers;
    if (with_hydration) layers = hydrate_all(xyz, scatterers, context);
    std::vector<Index> wet;
    for (Index s = 0; s < count; ++s) {
        bool touches = false;
        for (Index frame = 0; frame < layers.extent(0); ++frame) touches |= layers(frame, 0, s) > 0;
        if (touches) wet.push_back(s);
    }
    ScattererPositions positions;
    positions.sites = static_cast<Index>(wet.size());
    positions.xyz = Array<float, 3>::unset(frames, 3, count + positions.sites);
    positions.scales = Array<float, 3>(frames, 1, count + positions.sites);
    Array<float, 2> positions(3, count);
    for (Index frame = 0; frame < frames; ++frame) {
        set_centres_of_mass(scatterers, xyz[frame], positions);
        for (Index axis = 0; axis < 3; ++axis) {
            std::copy_n(positions[axis].data, count, positions.xyz[frame][axis].data);
            for (Index w = 0; w < positions.sites; ++w)
                positions.xyz(frame, axis, count + w) =
                    layers(frame, 1 + axis, wet[static_cast<std::size_t>(w)]);
        }
        for (Index w = 0; w < positions.sites; ++w)
            positions.scales(frame, 0, count + w) = layers(frame, 0, wet[static_cast<std::size_t>(w)]);
    }
    positions.scatterer_of_site = std::move(wet);
    return positions;
}

double max_diameter(View<const float, 3> xyz) {
    double largest = 0;
    for (Index frame = 0; frame < xyz.extent(0); ++frame) {
        double square = 0;
        for (Index axis = 0; axis < 3; ++axis) {
            const float* const x = xyz[frame][axis].data;
            const auto [smallest, greatest] = std::minmax_element(x, x + xyz.extent(2));
            const double side = static_cast<double>(*greatest) - static_cast<double>(*smallest);
            square += side * side;
        }
        largest = std::max(largest, std::sqrt(square));
    }
    return largest;
}

}  // namespace pleat::saxs
