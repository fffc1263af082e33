// Guinier windows: Guinier's law by all ranges of points that follow it, with the error of the
// choice.
#pragma once

#include <cstddef>
#include <vector>

#include "pleat/saxs/analysis/analysis.h"

namespace pleat::saxs {

/// Guinier's law fitted to every range of points with `q Rg <= 1.3`, weighted by how well each
/// follows the law and determines Rg (README.md).
GuinierWindows fit_guinier_windows(const Profile& curve);

/// The law of the cross-section of rods, ln(q I) = ln(q I)_0 - Rc^2 q^2 / 2, at q Rc <= 1.3 and q
/// Rg >= 2.5, for a particle of this Rg; not valid if the points do not follow it or the particle
/// is less than three times as long as thick.
CrossSection fit_cross_section(const Profile& curve, double gyration_radius);

/// The factor by which neighbouring points scatter more than their errors say, from second
/// differences of the first `count` points (as variance); 1 if there are fewer than 10.
double scatter_of_neighbours(const Profile& curve, std::size_t count);

}  // namespace pleat::saxs
