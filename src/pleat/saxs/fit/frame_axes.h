// Frame axes: partial profiles of many frames as combinations of few.
#pragma once

#include <span>

#include "pleat/saxs/fit/ensemble_fit.h"

namespace pleat::saxs {

/// Partial profiles of frames as sum_r amounts(r, frame) partial[r]: their mean, with amount 1, and
/// axes along which they differ. Profiles of one molecule differ along about as many axes as the
/// curve has Shannon channels, so fits of many frames need not read the profiles of all.
struct FrameAxes {
    Array<double, 3> partial;  ///< [axis, channel pair, q of the curve], the mean first
    Array<double, 2> amounts;  ///< [axis, frame]

    /// Gram-Schmidt orthogonalisation of the frames minus their mean, in units of the errors at
    /// c1 = c2 = 1: the frame with the longest remainder is the next axis, until every remainder is
    /// below 1e-6 of the mean's length (about a thousandth of a standard error) or there are
    /// kMaxProfileAxes axes. Throws Cancelled.
    explicit FrameAxes(const EnsembleProblem& problem);

    /// The mean [channel pair, q] of frames with these weights, of sum 1. `of_axes`: `partial`, or
    /// it at some of the curve's points.
    Array<double, 2> mean(View<const double, 3> of_axes, std::span<const double> weights) const;
};

}  // namespace pleat::saxs
