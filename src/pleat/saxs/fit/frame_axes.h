// Frame axes: profiles of many frames as combinations of few, at all contrasts and at one.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/fit/weight_dual.h"

namespace pleat::saxs {

inline constexpr double kFrameTolerance = 0.01;

/// Partial profiles of frames as sum_r amounts(r, frame) partial[r]: their mean, with amount 1, and
/// axes along which they differ, with amounts of mean 0 and mean square 1 that are not correlated.
/// Profiles of one molecule differ along about as many axes as the curve has Shannon channels,
/// times the channel pairs, so fits of many frames need not read the profiles of all.
struct FrameAxes {
    Array<double, 3> partial;  ///< [axis, channel pair, q of the curve], the mean first
    Array<double, 2> amounts;  ///< [axis, frame]
    /// An upper bound, for any frame and any contrast within the options, of the length of the
    /// profile that this description omits, in units of the errors divided by the scale of the fit
    /// to the curve.
    double left_out = 0;
    /// The same in errors, at the scale with which the mean fits the curve.
    double omitted_errors = 0;

    /// Gram-Schmidt orthogonalisation of the frames minus their mean. Lengths are upper bounds for
    /// profiles at any contrast within the options, in units of the errors. Adds axes until no
    /// omitted length exceeds `tolerance` at the scale with which the mean fits the curve or, if
    /// that is larger, the effect of errors of 2e-6 of each partial profile; or until there are
    /// kMaxProfileAxes axes. Bit-identical for any number of threads. Throws Cancelled.
    explicit FrameAxes(const EnsembleProblem& problem, double tolerance = kFrameTolerance);

    /// The mean [channel pair, q] of frames with these weights, of sum 1. `of_axes`: `partial`, or
    /// it at some of the curve's points.
    Array<double, 2> mean(View<const double, 3> of_axes, std::span<const double> weights) const;
    /// The same for some of the frames.
    Array<double, 2> mean(View<const double, 3> of_axes, std::span<const Index> frames,
                          std::span<const double> weights) const;
};

/// Adds a warning, once, if there are kMaxProfileAxes axes and they may omit more than one error in
/// total over all points of the curve.
void warn_of_axes(const EnsembleProblem& problem, const FrameAxes& axes);

/// Directions are added until the root mean square remainder over the frames, along every axis, is
/// at most this, in units of the curve's errors.
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

    /// Coordinates of the curve minus the frames' mean times a scale.
    std::vector<double> target(double scale) const;
    /// Coordinates of the mean along the basis, and what is left of it, which is in every frame.
    std::pair<std::vector<double>, std::vector<double>> divided_mean() const;
    /// The scale, 0 or more, with which frames of these mean coordinates fit the curve best.
    double best_scale(std::span<const double> mean_coordinates) const;

    /// Whether the basis describes all that the axes describe.
    bool is_complete() const { return std::ssize(basis) + 1 >= axis_count(); }
    /// An upper bound of how far F = chi^2 n / 2 + theta sum w ln(M w) at weights that minimise F
    /// of these coordinates, at this scale, exceeds the minimum of F of the axes. Weights then
    /// differ from those at that minimum by sum |dw| <= sqrt(2 excess / theta), and the square
    /// roots of chi^2 n by sqrt(2 excess).
    double excess(std::span<const double> weights, double theta, double scale) const;

private:
    Index axis_count() const { return axis_remainders_.extent(0); }

    const FrameAxes& frame_axes_;
    Array<double, 2> axis_remainders_;  // [axis, point]: what the basis leaves out of each axis
};

/// Up to `count` frames, ascending, with which a set of frames fits best when one of them replaces
/// one member, at the contrast of the coordinates, with weights of at least kMinWeight.
/// `members`: ascending. The same bits for any number of threads. Throws Cancelled.
std::vector<Index> best_replacements(const ProfileCoordinates& at, std::span<const Index> members,
                                     std::size_t count, int threads, const Context& context);

}  // namespace pleat::saxs
