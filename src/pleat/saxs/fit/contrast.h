// Contrast: profiles from partial profiles, for any displaced volume and hydration layer.
#pragma once

#include <span>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

/// Factor of the excluded volume's amplitude at q if radii are scaled by c1 about their mean, after
/// Schneidman-Duhovny et al., Biophys. J. 105:962 (2013), eq. 5:
/// c1^3 exp(-(4 pi / 3)^(2/3) r^2 (c1^2 - 1) q^2 / (4 pi)).
double volume_factor(double c1, double mean_radius, double q);

/// The weight [channel pair, q] of each partial profile in the profile, which is the sum of partial
/// profiles times these weights: products of the channels' weights, for 6, 3 or 1 channel pairs.
Array<double, 2> channel_pair_factors(Index pairs, std::span<const double> q, double mean_radius,
                                      const Contrast& contrast);

/// Combines partial profiles [channel pair, q] of 3 channels (vacuum, excluded volume, hydration),
/// 2 (net, hydration) or 1 (net) to a profile [q]; c1 affects only 3 channels.
std::vector<double> intensity(View<const double, 2> partial, std::span<const double> q,
                              double mean_radius, const Contrast& contrast);
/// The same with `factors` [channel pair, q] from channel_pair_factors().
std::vector<double> intensity(View<const double, 2> partial, View<const double, 2> factors);

}  // namespace pleat::saxs
