// Joint fit: one contrast for several curves of the same sample, a scale and background for each.
#pragma once

#include <span>
#include <vector>

#include "pleat/saxs/fit/fit.h"

namespace pleat::saxs {

/// A curve and the partial profiles [channel pair, q of the curve] that it is compared with.
struct CurveProblem {
    const Profile* curve = nullptr;
    View<const double, 2> partial;
    FitOptions options;  ///< the bounds of c1 and c2 are those of the first problem
};

/// The fit of each curve at the contrast with the smallest sum of chi^2 over all curves, found by
/// search_contrast(). Throws Cancelled.
std::vector<Fit> fit_jointly(std::span<const CurveProblem> problems, double mean_radius,
                             const Context& context);

/// Chi^2 of all curves together. Contrast that was searched counts once as a parameter.
JointFit summarize(std::span<const Fit> fits, const FitOptions& options);

}  // namespace pleat::saxs
