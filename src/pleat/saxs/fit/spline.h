// Splines: smooth curves through points, for profiles and form factors between grid points.
#pragma once

#include <span>
#include <vector>

namespace pleat::saxs {

/// Values at `to`, which never falls, within the range of `x`, of the cubic spline through (x, y):
/// flat at the first point where that is x = 0 (profiles are even functions of q), and without
/// curvature at an end otherwise. `x` rising, of 2 or more points.
std::vector<double> interpolate_spline(std::span<const double> x, std::span<const double> y,
                                       std::span<const double> to);

}  // namespace pleat::saxs
