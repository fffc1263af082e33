// Pair distances: P(r) of a curve by indirect Fourier transform, averaged over Dmax and smoothness.
#pragma once

#include "pleat/saxs/analysis/analysis.h"

namespace pleat::saxs {

/// P(r) of a curve whose Rg is about `gyration_radius`, angstrom (README.md). Not valid if the
/// points determine none.
PairDistances fit_pair_distances(const Profile& curve, double gyration_radius);

/// Intensity 4 pi integral P(r) sin(q r) / (q r) dr at each q.
std::vector<double> intensity_of(const PairDistances& pairs, std::span<const double> q);

}  // namespace pleat::saxs
