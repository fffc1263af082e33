// Accessibility: the fraction of each sphere's surface that a probe can touch.
#pragma once

#include <span>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/view.h"
#include "pleat/saxs/model/exposed_points.h"

namespace pleat::saxs {

/// The exposed surface of a sphere.
struct Exposure {
    float fraction = 0;  ///< from 0 to 1
    float direction[3] =
        {};  ///< mean of the directions from the centre, each of length 1; 0 if none
};

/// kSurfacePoints evenly spread points on a sphere of radius 1, along a golden spiral: [axis,
/// point].
Array<double, 2> surface_points();

/// The surface of a sphere with these exposed points of surface_points().
Exposure exposure_of(const PointBits& exposed, View<const double, 2> points);

/// The exposed surfaces of the spheres at `centres` [axis, sphere] with these radii plus `probe`,
/// all in angstrom: the points outside of all other spheres (Shrake and Rupley, J. Mol. Biol.
/// 79:351, 1973), of surface_points(). Of several spheres with one centre only the largest is
/// exposed, the first of equal ones. Memory: 60 bytes per sphere and 4 per cell of a grid, at most
/// 8 cells per sphere. Throws Cancelled.
std::vector<Exposure> exposures(View<const float, 2> centres, std::span<const double> radii,
                                double probe, const Context& context);

}  // namespace pleat::saxs
