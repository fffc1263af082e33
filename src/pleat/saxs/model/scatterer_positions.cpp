// Scatterer positions: frames shared by threads and ranks, sites chosen from all frames.
#include "pleat/saxs/model/scatterer_positions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pleat/core/ranks/gather_rows.h"
#include "pleat/saxs/cancellable_parallel.h"

namespace pleat::saxs {

namespace {

/// The hydration layers of all frames, [frame, amount and site (x, y, z), scatterer]. Each rank
/// computes its rows.
Array<float, 3> hydration_layers(View<const float, 3> xyz, const Scatterers& scatterers,
                                 const Context& context) {
    const RankRows rows(context);
    const Index frames = rows.count_of(xyz.extent(0));
    const Index block = frames < resolve_threads(context) ? 1 : 64;
    auto layers = Array<float, 3>::unset(xyz.extent(0), 4, scatterers.count());
    const auto compute = [&](Index first, Index count) {
        parallel_for_frames(context, count, [&](Index n, const Context& of_frame) {
            const Index frame = rows.row(first + n);
            const Hydration layer = find_hydration_layer(scatterers, xyz[frame], of_frame);
            float* const out = layers[frame].data;
            std::copy(layer.sites.begin(), layer.sites.end(),
                      std::copy(layer.water_amounts.begin(), layer.water_amounts.end(), out));
        });
    };
    for_each_block(context, "hydration", frames, block, compute, "frames");
    all_gather_rows(context, View<float, 2>(layers.data(), xyz.extent(0), 4 * scatterers.count()));
    return layers;
}

}  // namespace

ScattererPositions scatterer_positions(View<const float, 3> xyz, const Scatterers& scatterers,
                                       bool with_hydration, const Context& context) {
    const Index frames = xyz.extent(0), count = scatterers.count();
    Array<float, 3> layers;
    if (with_hydration) layers = hydration_layers(xyz, scatterers, context);
    std::vector<Index> wet;
    for (Index s = 0; s < count; ++s) {
        bool touches = false;
        for (Index frame = 0; frame < layers.extent(0); ++frame) touches |= layers(frame, 0, s) > 0;
        if (touches) wet.push_back(s);
    }
    ScattererPositions positions;
    positions.sites = static_cast<Index>(wet.size());
    positions.xyz = Array<float, 3>::unset(frames, 3, count + positions.sites);
    if (with_hydration)
        positions.scales = Array<float, 3>::unset(frames, 1, count + positions.sites);
    cancellable_parallel_for(context, resolve_threads(context), frames, [&](Index frame, int) {
        set_centres_of_mass(scatterers, xyz[frame], positions.xyz[frame]);
        if (!with_hydration) return;
        std::fill_n(positions.scales[frame].data, count, 0.0f);
        for (Index w = 0; w < positions.sites; ++w) {
            const Index scatterer = wet[static_cast<std::size_t>(w)];
            positions.scales(frame, 0, count + w) = layers(frame, 0, scatterer);
            for (Index axis = 0; axis < 3; ++axis)
                positions.xyz(frame, axis, count + w) = layers(frame, 1 + axis, scatterer);
        }
    });
    StageProgress(context, "scatterers", frames, "frames").advance_to(frames);
    positions.scatterer_of_site = std::move(wet);
    return positions;
}

double box_diagonal(View<const float, 2> frame) {
    double square = 0;
    for (Index axis = 0; axis < 3; ++axis) {
        const auto [min, max] = std::minmax_element(frame[axis].begin(), frame[axis].end());
        const double side = static_cast<double>(*max) - static_cast<double>(*min);
        square += side * side;
    }
    return std::sqrt(square);
}

double max_diameter(View<const float, 3> xyz, int threads) {
    std::vector<double> diameters(static_cast<std::size_t>(xyz.extent(0)));
    parallel_for(threads, xyz.extent(0), [&](Index frame, int) {
        diameters[static_cast<std::size_t>(frame)] = box_diagonal(xyz[frame]);
    });
    return diameters.empty() ? 0 : std::ranges::max(diameters);
}

}  // namespace pleat::saxs
