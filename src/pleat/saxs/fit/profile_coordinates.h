// Profile coordinates: profiles of many frames at one contrast, along few axes.
#pragma once

#include <span>
#include <vector>

#include "pleat/saxs/fit/frame_axes.h"
#include "pleat/saxs/fit/weight_dual.h"

namespace pleat::saxs {

/// Directions are added until no axis of the frames has a remainder of a root mean square (over the
/// frames) above this, in units of the curve's errors.
inline constexpr double kDirectionTolerance = 0.03;

/// Profiles at one contrast, divided by sigma: that of frame i is mean + sum_r x(r, i) basis_r, and
/// a remainder that is orthogonal to the basis. With a background, profiles and curve are first
/// made orthogonal to a constant.
class ProfileCoordinates {
public:
    std::vector<double> curve, mean;         ///< [point]
    std::vector<std::vector<double>> basis;  ///< [r][point], orthonormal
    FrameCoordinates x;

    /// Gram-Schmidt orthogonalisation of the axes' profiles at the contrast of `at`, the longest
    /// remainder first, until all are shorter than `tolerance` at the scale of `at`. `axes`: the
    /// problem whose partial profiles are those of the axes, maybe at some of the curve's points.
    /// `of_frames` must outlive this. Throws Cancelled.
    ProfileCoordinates(const EnsembleProblem& axes, const FrameAxes& of_frames, const Fit& at,
                       double tolerance = kDirectionTolerance);

    /// The curve minus the mean of the frames times a scale, along the basis.
    std::vector<double> target(double scale) const;
    /// The scale, 0 or more, with which frames of these mean coordinates fit the curve best.
    double best_scale(std::span<const double> mean_coordinates) const;

    /// Whether the basis describes all that the axes describe.
    bool is_complete() const { return static_cast<Index>(basis.size()) + 1 >= axis_count(); }
    /// A bound of how far weights, which minimise F = chi^2 n / 2 + theta sum w ln(M w) of these
    /// coordinates at this scale, are above the minimum of F of the axes. With it, weights differ
    /// from those at that minimum by sum |dw| <= sqrt(2 excess / theta), and the square roots of
    /// chi^2 n by sqrt(2 excess).
    double excess(std::span<const double> weights, double theta, double scale) const;

private:
    Index axis_count() const { return remainders_.extent(0); }

    const FrameAxes& of_frames_;
    Array<double, 2> remainders_;  // [axis, point]: what the basis leaves out of each axis
};

}  // namespace pleat::saxs
