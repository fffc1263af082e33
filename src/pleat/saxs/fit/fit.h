// Fit: scale, background and contrast with which profiles agree best with measured curves.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "pleat/bio/scattering/profile.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/saxs/fit/contrast.h"

namespace pleat::saxs {

/// The values that may vary, and their ranges; equal bounds fix a value.
struct FitOptions {
    double c1_min = 0.9, c1_max = 1.1;
    double c2_min = -2, c2_max = 4;
    bool background = false;  ///< a constant is added to the model
};

/// A profile scaled onto a curve.
struct CurveScaling {
    double scale = 1, background = 0;
    double chi2 = 0;  ///< sum over points of ((I - scale * model - background) / sigma)^2
};

/// The best scale (0 or more) and, if wanted, background, of a model at the curve's q.
CurveScaling fit_scale(const Profile& curve, std::span<const double> model, bool background);

/// The c1 (1 for beads) and c2 within the bounds with the smallest `chi2`: a grid with steps of at
/// most 0.005 and 0.25 (25 to 101 values each), then damped Newton steps from its three lowest
/// local minima until they are below 1e-7 of the range or chi^2 would fall by less than the
/// fraction `precision`. With a `start` (may be null) the steps begin there, without a grid. Throws
/// Cancelled.
Contrast search_contrast(const FitOptions& options, bool is_atomic,
                         const std::function<double(const Contrast&)>& chi2,
                         const Contrast* start = nullptr, const Context& context = {},
                         double precision = 0);

/// Fits partial profiles [channel pair, q of the curve] of one frame or of the mean of an ensemble
/// to a curve over c1, c2 (by search_contrast()), scale and background. Throws Cancelled.
Fit fit(const Profile& curve, View<const double, 2> partial, double mean_radius,
        const FitOptions& options, const Contrast* start = nullptr, const Context& context = {});

/// Like fit(), at a given contrast; `extra` is added to the number of fitted parameters.
Fit fit_at(const Contrast& contrast, const Profile& curve, View<const double, 2> partial,
           double mean_radius, const FitOptions& options, Index extra = 0);

/// Whether partial profiles [channel pair, q] are those of atoms, not of beads.
bool are_atomic(View<const double, 2> partial);

/// Partial profiles [channel pair, q] interpolated by cubic splines at other points, in ascending
/// order and within the range of q. Throws UsageError.
Array<double, 2> resample_profiles(View<const double, 2> partial, std::span<const double> q,
                                   std::span<const double> to);

/// The points of a curve that see q of at most `q_max`: q, and where they have dq the q within
/// kSmearingReach dq of it.
Profile cut_curve(const Profile& curve, double q_max);

/// A curve and the partial profiles [channel pair, q of the curve] that it is compared with.
struct CurveProblem {
    const Profile* curve = nullptr;
    View<const double, 2> partial;
    FitOptions options;  ///< the bounds of c1 and c2 are those of the first problem
};

/// The fit of each curve at the contrast with the smallest sum of chi^2 over all curves, found by
/// search_contrast(). Throws Cancelled.
std::vector<Fit> fit_jointly(std::span<const CurveProblem> problems, double mean_radius,
                             const Context& context, const Contrast* start = nullptr);

/// Chi^2 of all curves together. Contrast that was searched counts once as a parameter.
JointFit summarize(std::span<const Fit> fits, const FitOptions& options);

/// The probability that noise has as few runs of one sign as these residuals, by the normal
/// approximation of Wald and Wolfowitz (1940); 0 if all of two or more have one sign, 1 for fewer
/// residuals. It does not depend on the size of errors.
double few_runs_probability(std::span<const double> residuals);

}  // namespace pleat::saxs
