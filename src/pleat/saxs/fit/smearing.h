// Smearing: profiles at the points of a curve, averaged over the spread of q of each.
#pragma once

#include <span>

#include "pleat/bio/scattering/profile.h"
#include "pleat/core/array.h"

namespace pleat::saxs {

/// A point of a curve with dq sees the q within this many dq.
inline constexpr double kSmearingReach = 3;

/// Partial profiles [channel pair, q] at the points of a curve, by cubic splines. If the curve has
/// dq, each is the mean over the Gaussian of q with this standard deviation, cut at
/// kSmearingReach * dq, by Gauss-Legendre quadrature of 24 nodes; profiles are even functions of q.
/// Throws InputError if q does not reach so far.
Array<double, 2> profiles_at_curve(View<const double, 2> partial, std::span<const double> q,
                                   const Profile& curve);

}  // namespace pleat::saxs
