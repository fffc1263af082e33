// Scatterer positions: the scatterers and the hydration sites of every frame, from the surfaces of
// their atoms.
#pragma once

#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/saxs/model/scatterers.h"
#include "pleat/saxs/model/surface_kernel.h"

namespace pleat::saxs {

/// The hydration layers of all frames of `xyz` [frame, axis, atom]: [frame, amount and site (x, y,
/// z), scatterer], in angstrom. An atom touches water with the exposed area of its sphere, enlarged
/// by a probe of 1.4 angstrom, divided by the area of a whole such sphere about an atom of radius
/// 1.9 angstrom. That water is placed 2.8 angstrom beyond its surface, in the direction of the
/// exposed part; at the atom if it is exposed on all sides. A bead touches the water of its atoms,
/// at the mean of their sites. The site of a buried scatterer is its own position.
///
/// If the device of `context` is a GPU and each rank has kMinFramesOnGpu frames or more, that GPU
/// finds the exposed points, with the same result as a CPU that has fused multiplication and
/// addition. Ranks share the work; each returns all layers. Throws Cancelled, DeviceError.
Array<float, 3> hydration_layers(View<const float, 3> xyz, const Scatterers& scatterers,
                                 const Context& context);

inline constexpr Index kMinFramesOnGpu = 64;

/// Whether hydration_layers() uses the GPU for this many frames.
bool finds_surfaces_on_gpu(Index frames, const Context& context);

/// [member]: radii in angstrom of the spheres whose surface is computed, with the probe.
std::vector<double> radii_with_probe(const Scatterers& scatterers);

/// Sets the rows of `layers` that belong to this rank (RankRows), as hydration_layers() does, with
/// `kernel`, which must be made for radii_with_probe(). Throws Cancelled, DeviceError.
void set_hydration_layers(SurfaceKernel& kernel, View<const float, 3> xyz,
                          const Scatterers& scatterers, const Context& context,
                          View<float, 3> layers);

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
/// The maximum of box_diagonal() over all frames [frame, axis, atom].
double max_diameter(View<const float, 3> xyz, int threads);

}  // namespace pleat::saxs
