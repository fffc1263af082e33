// Memory estimate: the grid of q, and the bytes that a run keeps at a time.
#pragma once

#include <cstddef>
#include <span>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

/// Points of the grid from 0 to --q-max. With a curve, profiles are interpolated between them, for
/// which a step of 0.5 / diameter is fine enough: the error of a cubic is (0.5)^4 / 384 of the
/// contribution of the longest pairs, 2e-4.
std::size_t grid_points(const Parameters& parameters, bool with_curve, double diameter);

Index frame_count(std::span<const Ensemble> components);

/// Bytes for the profiles of these frames at so many points of q, and for their scatterers'
/// positions, besides the coordinates.
std::int64_t component_memory(Index frames, Index scatterers, Index points);

}  // namespace pleat::saxs
