// Guinier: the radius of gyration of a curve by Guinier's law.
#pragma once

#include "pleat/bio/scattering/profile.h"

#pragma GCC visibility push(default)

namespace pleat {

/// Guinier's law, ln I = ln I(0) - Rg^2 q^2 / 3 (1939), fitted to the first points of a curve with
/// q Rg <= 1.3.
struct Guinier {
    bool is_valid = false;  ///< whether the curve has such a range of 5 or more points
    double gyration_radius = 0, gyration_radius_error = 0;      ///< Rg, angstrom
    double forward_intensity = 0, forward_intensity_error = 0;  ///< I(0), in the curve's unit
    std::size_t first = 0, last = 0;  ///< points of the range, the last included
    double chi2 = 0;                  ///< of the line, per degree of freedom
};

/// Weighted least squares over the longest range of points, from the first with a positive
/// intensity on, whose end satisfies q Rg <= 1.3.
Guinier guinier(const Profile& curve);

}  // namespace pleat

#pragma GCC visibility pop
