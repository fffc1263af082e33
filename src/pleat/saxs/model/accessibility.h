// Accessibility: which part of each sphere's surface a probe can touch.
#pragma once

#include <span>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/view.h"

namespace pleat::saxs {

/// What is exposed of a sphere.
struct Exposure {
    float part = 0;  ///< from 0 to 1
    float direction[3] =
        {};  ///< mean of the directions from the centre, each of length 1; 0 if none
};

/// The exposures of the spheres at `centres` [axis, sphere] with these radii, each enlarged
/// by `probe`, all in angstrom: what lies outside of all others (Shrake and Rupley, J. Mol. Biol.
/// 79:351, 1973), by `kSurfacePoints` points spread along a spiral. Memory: 40 bytes a sphere and 4
/// a cell of the grid, at most 8 cells a sphere. Cancelled.
std::vector<Exposure> exposures(View<const float, 2> centres, std::span<const double> radii,
                                double probe, const Context& context);

inline constexpr int kSurfacePoints = 128;

}  // namespace pleat::saxs
