// Scatterer positions: frames shared by threads, sites chosen from all frames.
#include "pleat/saxs/model/scatterer_positions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/model/hydration.h"

namespace pleat::saxs {

namespace {

/// The scatterers that touch water in any frame; `layers` as of hydration_layers().
std::vector<Index> wet_scatterers(View<const float, 3> layers, const Context& context) {
    constexpr Index kScatterers = 256;  // that a thread looks at in one frame after another
    const Index count = layers.extent(2);
    std::vector<std::uint8_t> touches(static_cast<std::size_t>(count));
    cancellable_parallel_for(context, resolve_threads(context),
                             (count + kScatterers - 1) / kScatterers, [&](Index block, int) {
                                 for (Index frame = 0; frame < layers.extent(0); ++frame)
                                     for (Index s = block * kScatterers;
                                          s < std::min(count, (block + 1) * kScatterers); ++s)
                                         touches[static_cast<std::size_t>(s)] |=
                                             layers(frame, 0, s) > 0;
                             });
    std::vector<Index> wet;
    for (Index s = 0; s < count; ++s)
        if (touches[static_cast<std::size_t>(s)] != 0) wet.push_back(s);
    return wet;
}

/// Rg^2 of members of these weights over all frames; not above 0 or NaN if the weights cancel.
double weighted_gyration2(const Scatterers& scatterers, View<const float, 3> frames,
                          const std::vector<double>& weights) {
    double sum = 0, first[3] = {}, second = 0;
    for (Index frame = 0; frame < frames.extent(0); ++frame)
        for (std::size_t m = 0; m < weights.size(); ++m) {
            sum += weights[m];
            for (Index axis = 0; axis < 3; ++axis) {
                const double x = static_cast<double>(frames(frame, axis, scatterers.members[m])) -
                                 static_cast<double>(frames(0, axis, scatterers.members[0]));
                first[axis] += weights[m] * x;
                second += weights[m] * x * x;
            }
        }
    for (const double moment : first) second -= moment * moment / sum;
    return second / sum;
}

}  // namespace

ScattererPositions scatterer_positions(View<const float, 3> xyz, const Scatterers& scatterers,
                                       bool with_hydration, const Context& context) {
    const Index frames = xyz.extent(0), count = scatterers.count();
    Array<float, 3> layers;
    if (with_hydration) layers = hydration_layers(xyz, scatterers, context);
    std::vector<Index> wet;
    if (with_hydration) wet = wet_scatterers(layers, context);
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

double gyration_of_structure(const Topology& topology, View<const float, 3> frames,
                             const Parameters& parameters) {
    const Scatterers scatterers =
        make_scatterers(topology, frames[0],
                        {.water = parameters.water,
                         .ions = parameters.ions,
                         .explicit_hydrogens = parameters.hydrogens == Hydrogens::listed});
    std::vector<double> net, all;  // [member]: each atom is a scatterer
    double sum_net = 0, sum_all = 0;
    for (const std::int32_t type : scatterers.types) {
        const UnitedAtom& atom = scatterers.atom_types[static_cast<std::size_t>(type)];
        net.push_back(net_electrons(atom));
        all.push_back(vacuum_factor(atom, 0));
        sum_net += net.back();
        sum_all += all.back();
    }
    constexpr double kMinContrast = 0.1;  // of proteins 0.24, of lipids about 0
    const double square = std::abs(sum_net) > kMinContrast * sum_all
                              ? weighted_gyration2(scatterers, frames, net)
                              : 0;
    return std::sqrt(square > 0 ? square : weighted_gyration2(scatterers, frames, all));
}

double gyration_of_structure(const Ensemble& ensemble, const Parameters& parameters) {
    return gyration_of_structure(
        *ensemble.topology, View<const float, 3>(ensemble.xyz[0].data, 1, 3, ensemble.atom_count()),
        parameters);
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
