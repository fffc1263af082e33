// Guinier: Rg, I(0) and Rc of a curve by Guinier's law, with the error of the choice of points.
#pragma once

#include <cstddef>
#include <vector>

#include "pleat/bio/scattering/profile.h"

#pragma GCC visibility push(default)

namespace pleat {

/// Guinier's law, ln I = ln I(0) - Rg^2 q^2 / 3 (1939), over the best of all ranges of points with
/// q Rg <= 1.3; errors contain the spread over the others.
struct Guinier {
    bool is_valid = false;  ///< whether the curve has such a range of 5 or more points
    double gyration_radius = 0, gyration_radius_error = 0;      ///< Rg, angstrom
    double forward_intensity = 0, forward_intensity_error = 0;  ///< I(0), in the curve's unit
    /// Parts of the error of Rg: noise, the spread over ranges, and a curvature of shapes that the
    /// points do not exclude.
    double error_of_points = 0, error_of_range = 0, error_of_curvature = 0;
    std::size_t first = 0, last = 0;  ///< points of the range, the last included
    double chi2 = 0;                  ///< of that line through joined points, per degree of freedom
    double trend = 0;                 ///< curvature of its residuals in standard errors
    double deviation_before = 0;      ///< mean residual of all points before it, in standard errors
    std::size_t first_good = 0;       ///< from it to `first` points agree with the line
    std::vector<std::size_t> outliers;  ///< points of the range more than 4 errors off the line
};

/// Fits Guinier's law to every range of points and takes the one that follows the law and
/// determines Rg best (saxs/analysis/README.md). Neighbours are joined to at most `joined` points.
Guinier guinier(const Profile& curve, std::size_t joined = 200);

/// Guinier's law of the cross-section of rods.
struct CrossSection {
    bool is_valid = false;
    double radius = 0, radius_error = 0;  ///< Rc, angstrom
    double length = 0;                    ///< of a rod with this Rc and the curve's Rg, angstrom
    std::size_t first = 0, last = 0;
};

/// The law of the cross-section of rods, ln(q I) = ln(q I)_0 - Rc^2 q^2 / 2, at q Rc <= 1.3 and q
/// Rg >= 2.5, for a particle of this Rg; not valid if the points do not follow it or the particle
/// is less than three times as long as thick.
CrossSection cross_section(const Profile& curve, double gyration_radius);

/// The factor by which neighbouring points scatter more than their errors say, from second
/// differences of the first `count` points (as variance) without the largest tenth; 1 if there are
/// fewer than 12.
double scatter_of_neighbours(const Profile& curve, std::size_t count);

}  // namespace pleat

#pragma GCC visibility pop
