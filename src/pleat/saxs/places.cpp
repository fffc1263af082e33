// Places: frames side by side on threads, sites chosen from all of them.
#include "pleat/saxs/places.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/parallel.h"

namespace pleat::saxs {

namespace {

/// The hydration layers of all frames. Many frames take a thread each, few share all threads in
/// turn; the values are the same.
std::vector<Hydration> hydrate_all(View<const float, 3> xyz, const Scatterers& scatterers,
                                   const Context& context) {
    const Index frames = xyz.extent(0);
    const int threads = resolve_threads(context);
    const bool one_by_one = frames < threads;
    const Index block = one_by_one ? 1 : 64;
    std::vector<Hydration> layers(static_cast<std::size_t>(frames));
    for (Index from = 0; from < frames; from += block) {
        context.update("hydration", from, frames, "frames");
        if (context.cancelled()) throw Cancelled("stopped; nothing was kept");
        parallel_for(one_by_one ? 1 : threads, std::min(block, frames - from), [&](Index n, int) {
            layers[static_cast<std::size_t>(from + n)] =
                hydrate(scatterers, xyz[from + n], one_by_one ? threads : 1);
        });
    }
    return layers;
}

}  // namespace

Places place_all(View<const float, 3> xyz, const Scatterers& scatterers, bool with_hydration,
                 const Context& context) {
    const Index frames = xyz.extent(0), count = scatterers.count();
    std::vector<Hydration> layers;
    if (with_hydration) layers = hydrate_all(xyz, scatterers, context);
    std::vector<Index> wet;
    for (Index s = 0; s < count; ++s) {
        const auto touches = [s](const Hydration& layer) {
            return layer.amounts[static_cast<std::size_t>(s)] > 0;
        };
        if (std::any_of(layers.begin(), layers.end(), touches)) wet.push_back(s);
    }
    Places places;
    places.sites = static_cast<Index>(wet.size());
    places.xyz = Array<float, 3>::unset(frames, 3, count + places.sites);
    places.scales = Array<float, 3>(frames, 1, count + places.sites);
    Array<float, 2> positions(3, count);
    for (Index frame = 0; frame < frames; ++frame) {
        place(scatterers, xyz[frame], positions);
        for (Index axis = 0; axis < 3; ++axis) {
            std::copy_n(positions[axis].data, count, places.xyz[frame][axis].data);
            for (Index w = 0; w < places.sites; ++w)
                places.xyz(frame, axis, count + w) = layers[static_cast<std::size_t>(frame)].sites(
                    axis, wet[static_cast<std::size_t>(w)]);
        }
        for (Index w = 0; w < places.sites; ++w)
            places.scales(frame, 0, count + w) =
                layers[static_cast<std::size_t>(frame)]
                    .amounts[static_cast<std::size_t>(wet[static_cast<std::size_t>(w)])];
    }
    places.touching = std::move(wet);
    return places;
}

double most_diameter(View<const float, 3> xyz) {
    double most = 0;
    for (Index frame = 0; frame < xyz.extent(0); ++frame) {
        double square = 0;
        for (Index axis = 0; axis < 3; ++axis) {
            const float* const x = xyz[frame][axis].data;
            const auto [least, greatest] = std::minmax_element(x, x + xyz.extent(2));
            const double side = static_cast<double>(*greatest) - static_cast<double>(*least);
            square += side * side;
        }
        most = std::max(most, std::sqrt(square));
    }
    return most;
}

}  // namespace pleat::saxs
