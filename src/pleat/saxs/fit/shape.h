// Shape: radius of gyration, largest distance and pair distances of scatterers; Guinier's law.
#pragma once

#include <span>
#include <vector>

#include "pleat/bio/scattering/profile.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"

#pragma GCC visibility push(default)

namespace pleat::saxs {

/// Of scatterers with net amplitudes at q = 0, in angstrom and electrons.
struct Shape {
    double gyration2 = 0;  ///< Rg^2 = sum A |x - centre|^2 / sum A; negative amplitudes may make
                           ///< it negative
    double gyration = 0;   ///< Rg; NaN where Rg^2 is negative
    double forward = 0;    ///< I(0) = (sum A)^2, electrons^2
    double diameter = 0;   ///< largest distance between two of the first `solid` centres
    std::vector<double> pairs;  ///< P(r): sum of A_i A_j over pairs i, j (both orders) by distance
};

/// `positions` [axis, scatterer], angstrom; `amplitudes` [scatterer], electrons. Bin n of `pairs`
/// holds distances from n * bin up to but without (n + 1) * bin; empty where `bin` is 0. The same
/// bits for any number of threads. Memory: a histogram for 64 blocks of rows. Cancelled.
Shape measure_shape(View<const float, 2> positions, std::span<const double> amplitudes, Index solid,
                    double bin, const Context& context);

/// ln I = ln I(0) - Rg^2 q^2 / 3 (Guinier, 1939) over the first points of a curve with q Rg <= 1.3.
struct Guinier {
    bool found = false;  ///< false: no such range of 5 points or more with a falling line
    double gyration = 0, gyration_error = 0;  ///< angstrom
    double forward = 0, forward_error = 0;    ///< in the curve's unit
    std::size_t first = 0, last = 0;          ///< points, the last included
};

/// Weighted least squares over the longest range of points from the first one with a positive
/// intensity on whose end agrees with q Rg <= 1.3.
Guinier guinier(const Profile& curve);

}  // namespace pleat::saxs

#pragma GCC visibility pop
