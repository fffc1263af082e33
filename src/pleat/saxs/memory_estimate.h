// Memory estimate: how finely q is divided, and the frames of a run.
#pragma once

#include <cstddef>
#include <span>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

/// Bins of P(r) beyond which a structure is taken to be broken.
inline constexpr double kMaxBins = 1e6;

/// Points of the grid from 0 to --q-max. Profiles are read off between these where there is a
/// curve, for which a step of 0.5 / diameter is close enough: the error of a cubic is (0.5)^4 / 384
/// of what the longest pairs contribute, 2e-4.
std::size_t grid_points(const Parameters& parameters, bool with_curve, double diameter);

Index frame_count(std::span<const Ensemble> components);

}  // namespace pleat::saxs
