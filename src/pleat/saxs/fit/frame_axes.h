// Frame axes: partial profiles of many frames as combinations of few.
#pragma once

#include <span>

#include "pleat/saxs/fit/ensemble_fit.h"

namespace pleat::saxs {

inline constexpr double kFrameTolerance = 0.01;

/// Partial profiles of frames as sum_r amounts(r, frame) partial[r]: their mean, with amount 1, and
/// axes along which they differ, with amounts of mean 0 and mean square 1 that are not correlated.
/// Profiles of one molecule differ along about as many axes as the curve has Shannon channels,
/// times the channel pairs, so fits of many frames need not read the profiles of all.
struct FrameAxes {
    Array<double, 3> partial;  ///< [axis, channel pair, q of the curve], the mean first
    Array<double, 2> amounts;  ///< [axis, frame]
    /// A bound of the length that this description leaves out of the profile of any frame, at any
    /// contrast within the options, in units of the errors divided by the scale onto the curve.
    double left_out = 0;
    /// The same in errors, at the scale with which the mean fits the curve.
    double left_out_errors = 0;

    /// Gram-Schmidt orthogonalisation of the frames minus their mean. Lengths are bounds of those
    /// of profiles at any contrast within the options, in units of the errors. Axes are added until
    /// nothing longer than `tolerance` is left out at the scale with which the mean fits the curve;
    /// or, where that is more, than what errors of 2e-6 of each partial profile are; or until
    /// there are kMaxProfileAxes axes. The same bits for any number of threads. Throws Cancelled.
    explicit FrameAxes(const EnsembleProblem& problem, double tolerance = kFrameTolerance);

    /// The mean [channel pair, q] of frames with these weights, of sum 1. `of_axes`: `partial`, or
    /// it at some of the curve's points.
    Array<double, 2> mean(View<const double, 3> of_axes, std::span<const double> weights) const;
    /// The same for some of the frames.
    Array<double, 2> mean(View<const double, 3> of_axes, std::span<const Index> frames,
                          std::span<const double> weights) const;
};

/// Adds to the problem's warnings, once, if there are kMaxProfileAxes axes and more than one error,
/// over all points of the curve together, may be left out.
void warn_of_axes(const EnsembleProblem& problem, const FrameAxes& axes);

}  // namespace pleat::saxs
