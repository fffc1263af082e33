// Contrast: profiles from partial ones, for any density of the displaced water and the hydration.
#pragma once

#include <span>
#include <vector>

#include "pleat/core/array.h"

#pragma GCC visibility push(default)

namespace pleat::saxs {

/// How strongly displaced water and hydration count.
struct Contrast {
    double c1 = 1;  ///< scale of the atoms' radii in the volume that they take from water
    double c2 =
        0;  ///< density of the hydration layer, in units of a water molecule an exposed atom
};

/// Factor of the excluded volume's amplitude at q where radii are scaled by c1 about their mean,
/// after Schneidman-Duhovny et al., Biophys. J. 105:962 (2013), eq. 5:
/// c1^3 exp(-(4 pi / 3)^(2/3) r^2 (c1^2 - 1) q^2 / (4 pi)).
double volume_factor(double c1, double mean_radius, double q);

/// The factors [channel pair, q] by which partial profiles add up to the profile: the products of
/// the channels' weights, for 6, 3 or 1 channel pairs.
Array<double, 2> channel_pair_factors(Index pairs, std::span<const double> q, double mean_radius,
                                      const Contrast& contrast);

/// The profile [q] of partial ones [channel pair, q] with 3 channels (vacuum, excluded volume,
/// hydration), 2 (net, hydration) or 1 (net); c1 acts on the first alone.
std::vector<double> intensity(View<const double, 2> partial, std::span<const double> q,
                              double mean_radius, const Contrast& contrast);

}  // namespace pleat::saxs

#pragma GCC visibility pop
