// Resampling: cubic splines through points, and profiles at the points of a curve, averaged over
// the spread of q of each.
#pragma once

#include <span>
#include <vector>

#include "pleat/bio/scattering/profile.h"
#include "pleat/core/array.h"

namespace pleat::saxs {

/// Cubic spline through (x, y), evaluated at `to`, which must be non-decreasing within the range of
/// `x`. The slope is 0 at the first point if that is x = 0 (profiles are even functions of q);
/// otherwise ends have no curvature. `x` must ascend and have at least 2 points.
std::vector<double> interpolate_spline(std::span<const double> x, std::span<const double> y,
                                       std::span<const double> to);

/// A point of a curve with dq sees the q within this many dq.
inline constexpr double kSmearingReach = 3;

/// Partial profiles [channel pair, q] at the points of a curve, by cubic splines. If the curve has
/// dq, each is the mean over the Gaussian of q with this standard deviation, cut at
/// kSmearingReach * dq, by Gauss-Legendre quadrature of 24 nodes; profiles are even functions of q.
/// Throws InputError if q does not reach so far.
Array<double, 2> profiles_at_curve(View<const double, 2> partial, std::span<const double> q,
                                   const Profile& curve);

/// The factors of Chebyshev nodes of the first kind in the barycentric formula (Berrut and
/// Trefethen, SIAM Review 46:501, 2004).
std::vector<double> barycentric_factors(std::size_t count);
/// The weights of nodes in Lagrange's interpolation at x. `factors`: barycentric_factors().
void lagrange_weights(std::span<const double> nodes, std::span<const double> factors, double x,
                      std::span<double> weights);

}  // namespace pleat::saxs
