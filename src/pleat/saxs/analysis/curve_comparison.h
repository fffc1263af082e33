// Curve comparison: whether curves at the same q are equal, their average, and concentrations.
#pragma once

#include <span>
#include <vector>

#include "pleat/saxs/analysis/analysis.h"

namespace pleat::saxs {

/// The probability that the longest run of equal sides in `points` fair tosses is `run` or longer
/// (Schilling 1990).
double longest_run_probability(std::size_t points, std::size_t run);

/// A straight line through points with weights of 1 / variance.
struct WeightedLine {
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;

    void add(double x, double y, double weight);
    double determinant() const { return w * wxx - wx * wx; }  ///< 0: the points have one x
    double slope() const { return (w * wxy - wx * wy) / determinant(); }
    double slope_error() const;
    double start() const { return (wxx * wy - wx * wxy) / determinant(); }  ///< at x = 0
    double start_error() const;
};

/// The correlation map test (Franke et al. 2015) of all pairs, with Holm's correction.
std::vector<CurvePair> compare_curves(std::span<const Profile> curves);

/// The mean of these curves, weighted by 1 / sigma^2 at each q.
Profile average_of(std::span<const Profile> curves, std::span<const std::size_t> which);

/// I / c at each q, extrapolated by a straight line in c to c = 0.
Profile extrapolate(std::span<const Profile> curves, std::span<const double> concentrations);

/// Slope of values over 0, 1, 2, ... (or `x`) in standard errors of it, from their errors.
double trend_of(std::span<const double> x, std::span<const double> values,
                std::span<const double> errors);

}  // namespace pleat::saxs
