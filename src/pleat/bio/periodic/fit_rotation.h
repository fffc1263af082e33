// Fit rotation: the rotation that brings points onto others.
#pragma once

#include <array>
#include <vector>

#include "pleat/bio/periodic/periodic_cell.h"

namespace pleat {

/// Rows of a rotation matrix.
using Rotation = std::array<Point, 3>;

/// The rotation about their means that brings `from` onto `to`, of as many points, with the
/// smallest sum of squared distances (Horn 1987, quaternions). The identity for fewer than three.
Rotation fit_rotation(const std::vector<Point>& from, const std::vector<Point>& to);

/// The mean of points; there must be one.
Point mean_of(const std::vector<Point>& points);

}  // namespace pleat
