// Places: where the scatterers and the hydration layer of every frame stand.
#pragma once

#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/saxs/model/scatterers.h"

namespace pleat::saxs {

/// As the Debye sums take them: first the scatterers, then the sites of the hydration layer, those
/// of scatterers that touch water in any frame.
struct ScattererPositions {
    Array<float, 3> xyz;     ///< [frame, axis, scatterer and site], angstrom
    Array<float, 3> scales;  ///< [frame, 1, scatterer and site]: water at each; 0 for scatterers
    Index sites = 0;
    std::vector<Index> scatterer_of_site;  ///< [site]: the scatterer that touches it
};

/// Places of all frames of `xyz` [frame, axis, atom], without sites where no hydration is wanted.
/// Cancelled.
ScattererPositions scatterer_positions(View<const float, 3> xyz, const Scatterers& scatterers, bool with_hydration,
                 const Context& context);

/// An upper bound of the largest distance in any frame: the diagonal of its box, angstrom.
double max_diameter(View<const float, 3> xyz);

}  // namespace pleat::saxs
