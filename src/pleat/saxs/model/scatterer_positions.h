// Scatterer positions: the scatterers and the hydration sites of every frame.
#pragma once

#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/saxs/model/scatterers.h"

namespace pleat::saxs {

/// Positions in the order of the Debye sums: first the scatterers, then the sites of the hydration
/// layer, one for each scatterer that touches water in any frame.
struct ScattererPositions {
    Array<float, 3> xyz;     ///< [frame, axis, scatterer or site], angstrom
    Array<float, 3> scales;  ///< [frame, 1, scatterer or site]: water at each, 0 for scatterers;
                             ///< empty without hydration
    Index sites = 0;
    std::vector<Index> scatterer_of_site;  ///< [site]: the scatterer that touches it
};

/// The positions in all frames of `xyz` [frame, axis, atom]; no sites unless `with_hydration`.
/// Ranks share the work; each returns all positions. Throws Cancelled, and DeviceError for a GPU
/// that hydration_layers() uses.
ScattererPositions scatterer_positions(View<const float, 3> xyz, const Scatterers& scatterers,
                                       bool with_hydration, const Context& context);

/// An upper bound of the largest distance in a frame [axis, atom]: the diagonal of its box,
/// angstrom.
double box_diagonal(View<const float, 2> frame);
/// The largest such bound of all frames [frame, axis, atom].
double max_diameter(View<const float, 3> xyz, int threads);

}  // namespace pleat::saxs
