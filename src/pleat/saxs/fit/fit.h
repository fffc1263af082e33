// Fit: profiles at any contrast, and the scale, background and contrast with which they agree best
// with measured curves.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "pleat/bio/scattering/profile.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
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

/// The parameters of a fit and their ranges; equal bounds fix a parameter.
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

/// The best scale (>= 0) and, optionally, background for a model at the curve's q.
CurveScaling fit_scale(const Profile& curve, std::span<const double> model, bool background);

/// The c1 (1 for beads) and c2 within bounds that minimise `chi2`: a grid with steps of at most
/// 0.005 and 0.25 (25 to 101 values each), then damped Newton steps from its three lowest local
/// minima until steps are below 1e-7 of the range or the expected relative decrease of chi^2 is
/// below `precision`. With a `start` (may be null) Newton steps begin there, without a grid. Throws
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

/// Whether partial profiles [channel pair, q] come from atoms rather than beads.
bool are_atomic(View<const double, 2> partial);

/// Interpolates partial profiles [channel pair, q] with cubic splines at other points, which must
/// ascend within the range of q. Throws UsageError.
Array<double, 2> resample_profiles(View<const double, 2> partial, std::span<const double> q,
                                   std::span<const double> to);

/// Keeps the points of a curve that depend only on q <= `q_max`: their q and, if they have dq, all
/// q within kSmearingReach dq.
Profile cut_curve(const Profile& curve, double q_max);

/// A curve and the partial profiles [channel pair, q of the curve] that it is compared with.
struct CurveProblem {
    const Profile* curve = nullptr;
    View<const double, 2> partial;
    FitOptions options;  ///< the bounds of c1 and c2 are those of the first problem
};

/// Fits each curve at the contrast that minimises the sum of chi^2 over all curves
/// (search_contrast()). Throws Cancelled.
std::vector<Fit> fit_jointly(std::span<const CurveProblem> problems, double mean_radius,
                             const Context& context, const Contrast* start = nullptr);

/// chi^2 over all curves. A fitted contrast counts once in the number of parameters.
JointFit summarize(std::span<const Fit> fits, const FitOptions& options);

/// The probability that noise has as few runs of one sign as these residuals, by the normal
/// approximation of Wald and Wolfowitz (1940); 0 if all of two or more have one sign, 1 for fewer
/// residuals. It does not depend on the size of errors.
double few_runs_probability(std::span<const double> residuals);

}  // namespace pleat::saxs
