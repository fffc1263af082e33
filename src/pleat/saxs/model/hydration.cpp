// Hydration: the water that scatterers touch, from the accessible surfaces of their atoms.
#include <cmath>

#include "pleat/saxs/model/accessibility.h"
#include "pleat/saxs/model/scatterers.h"

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

}  // namespace

Hydration find_hydration_layer(const Scatterers& scatterers, View<const float, 2> frame,
                               const Context& context) {
    const auto members = static_cast<Index>(scatterers.members.size());
    Array<float, 2> centres(3, members);
    for (Index axis = 0; axis < 3; ++axis) {
        for (Index m = 0; m < members; ++m)
            centres(axis, m) = frame(axis, scatterers.members[static_cast<std::size_t>(m)]);
    }
    const std::vector<Exposure> all = exposures(centres, scatterers.radii, kProbe, context);
    Hydration layer{std::vector<float>(static_cast<std::size_t>(scatterers.count()), 0),
                    Array<float, 2>(3, scatterers.count())};
    set_centres_of_mass(scatterers, frame, layer.sites);
    for (std::size_t s = 0; s < layer.water_amounts.size(); ++s) {
        double amount = 0, sum[3] = {};
        for (Index m = scatterers.starts[s]; m < scatterers.starts[s + 1]; ++m) {
            const auto member = static_cast<std::size_t>(m);
            const WaterSite water = water_site(all[member], scatterers.radii[member]);
            amount += water.amount;
            for (Index axis = 0; axis < 3; ++axis)
                sum[axis] +=
                    water.amount * (static_cast<double>(centres(axis, m)) + water.from[axis]);
        }
        if (amount == 0) continue;
        layer.water_amounts[s] = static_cast<float>(amount);
        for (Index axis = 0; axis < 3; ++axis)
            layer.sites(axis, static_cast<Index>(s)) = static_cast<float>(sum[axis] / amount);
    }
    return layer;
}

}  // namespace pleat::saxs
