// Maximum entropy: weights of all conformers, as little changed as the curve allows.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/fit/frame_axes.h"
#include "pleat/saxs/fit/least_squares.h"
#include "pleat/saxs/fit/weight_dual.h"

namespace pleat::saxs {

namespace {

/// Profiles at one contrast, divided by sigma: that of frame i is mean + sum_r x(r, i) basis_r.
struct Coordinates {
    std::vector<double> mean;                // [point]
    std::vector<std::vector<double>> basis;  // [r][point], orthonormal
    FrameCoordinates x;
};

/// Gram-Schmidt orthogonalisation of the axes' profiles, in the order of what they contribute at
/// most to a frame, until no axis contributes a thousandth of a standard error.
Coordinates coordinates_at(const Contrast& contrast, const EnsembleProblem& axes,
                           const Array<double, 2>& amounts) {
    constexpr double kEnough = 1e-6;
    Array<double, 2> left = frame_profiles(axes, contrast);
    const Index count = left.extent(0);
    const auto points = static_cast<std::size_t>(left.extent(1));
    std::vector<double> largest_amounts(static_cast<std::size_t>(count), 0);
    for (Index axis = 0; axis < count; ++axis) {
        double& largest = largest_amounts[static_cast<std::size_t>(axis)];
        for (const double amount : amounts[axis]) largest = std::max(largest, std::abs(amount));
        for (std::size_t k = 0; k < points; ++k) left[axis].data[k] /= axes.curve->sigma[k];
    }
    Coordinates result;
    result.mean.assign(left[0].data, left[0].data + points);
    // Amplitudes are in electrons here; the scale onto the curve makes the mean about as long as
    // the curve itself, so that lengths compare with it.
    const double enough = kEnough * std::sqrt(dot(result.mean.data(), result.mean.data(), points));
    std::vector<std::vector<double>> of_axes;  // [r][axis]: the axis along basis_r
    while (result.basis.size() + 1 < static_cast<std::size_t>(count)) {
        Index longest = 0;
        double length = 0, contribution = enough;
        for (Index axis = 1; axis < count; ++axis) {
            const double* const row = left[axis].data;
            const double norm = std::sqrt(dot(row, row, points));
            if (!(norm * largest_amounts[static_cast<std::size_t>(axis)] > contribution)) continue;
            contribution = norm * largest_amounts[static_cast<std::size_t>(axis)];
            length = norm;
            longest = axis;
        }
        if (longest == 0) break;
        std::vector<double> basis(left[longest].data, left[longest].data + points);
        for (double& value : basis) value /= length;
        std::vector<double> along(static_cast<std::size_t>(count), 0);
        for (Index axis = 1; axis < count; ++axis) {
            double* const row = left[axis].data;
            const double part = dot(row, basis.data(), points);
            along[static_cast<std::size_t>(axis)] = part;
            for (std::size_t k = 0; k < points; ++k) row[k] -= part * basis[k];
        }
        result.basis.push_back(std::move(basis));
        of_axes.push_back(std::move(along));
    }
    const auto rank = static_cast<Index>(of_axes.size());
    Array<double, 2> factors(count, rank);
    for (Index axis = 1; axis < count; ++axis)
        for (Index r = 0; r < rank; ++r)
            factors(axis, r) = of_axes[static_cast<std::size_t>(r)][static_cast<std::size_t>(axis)];
    result.x = FrameCoordinates(
        factors, amounts, [&] { return axes.threads(); }, axes.context);
    return result;
}

/// The curve minus the mean of the frames, along the basis.
std::vector<double> target_of(const Coordinates& at, const Profile& curve, const Fit& fit) {
    std::vector<double> target;
    for (const std::vector<double>& axis : at.basis) {
        double sum = 0;
        for (std::size_t k = 0; k < curve.size(); ++k)
            sum += axis[k] * ((curve.intensity[k] - fit.background) / curve.sigma[k] -
                              fit.scale * at.mean[k]);
        target.push_back(sum);
    }
    return target;
}

double objective(const Weighted& one, double theta) {
    const auto frames = static_cast<double>(one.weights.size());
    const double entropy = std::log(effective_count(one.weights) / frames);
    return one.fit.chi2 * static_cast<double>(one.fit.points) / 2 - theta * entropy;
}

/// Fits weights of frames, whose partial profiles are combinations of those of a problem's axes.
class WeightFit {
public:
    WeightFit(const EnsembleProblem& axes, const FrameAxes& of_frames)
        : axes_(axes), of_frames_(of_frames) {}

    /// Weights for each theta, the largest first.
    std::vector<Weighted> run(const std::vector<double>& thetas) const {
        Weighted one;
        one.frames.resize(static_cast<std::size_t>(of_frames_.amounts.extent(1)));
        std::iota(one.frames.begin(), one.frames.end(), Index{0});
        one.weights.assign(one.frames.size(), 1.0 / static_cast<double>(one.frames.size()));
        one.fit = fit(*axes_.curve, of_frames_.mean(axes_.partial, one.weights), axes_.mean_radius,
                      axes_.options, nullptr, axes_.context);
        std::vector<Weighted> all;
        all.reserve(thetas.size());
        std::vector<double> start(axes_.curve->size(), 0);
        for (const double theta : thetas)
            all.push_back(one = reweight(theta, std::move(one), start));
        return all;
    }

private:
    /// Weights at a theta, from those of a larger one; contrast and weights in turn. `start`
    /// [point]: sum_r l_r basis_r of the last dual problem, where the next one starts.
    Weighted reweight(double theta, Weighted from, std::vector<double>& start) const {
        constexpr int kMaxRounds = 20;
        double before = objective(from, theta);
        for (int round = 0; round < kMaxRounds; ++round) {
            Weighted next = at_contrast(theta, from, start);
            next.fit = fit(*axes_.curve, of_frames_.mean(axes_.partial, next.weights),
                           axes_.mean_radius, axes_.options, &from.fit.contrast, axes_.context);
            const double after = objective(next, theta);
            if (!(after < before)) break;
            from = std::move(next);
            if (before - after < 1e-5 * before) break;
            before = after;
        }
        return from;
    }

    /// Weights, scale and background at the contrast of `from`, in turn.
    Weighted at_contrast(double theta, Weighted from, std::vector<double>& start) const {
        constexpr int kMaxRounds = 50;
        const Coordinates at = coordinates_at(from.fit.contrast, axes_, of_frames_.amounts);
        if (at.basis.empty()) return from;
        std::vector<double> l;
        for (const std::vector<double>& axis : at.basis)
            l.push_back(dot(axis.data(), start.data(), start.size()));
        const std::function<int()> threads = [&] { return axes_.threads(); };
        WeightDual dual(at.x, threads, axes_.context);
        for (int round = 0; round < kMaxRounds; ++round) {
            throw_if_stopped(axes_.context);
            const double before = from.fit.scale;
            const std::vector<double> target = target_of(at, *axes_.curve, from.fit);
            from.weights = dual.minimize(before, target, theta, l);
            from.fit = fit_at(from.fit.contrast, *axes_.curve,
                              of_frames_.mean(axes_.partial, from.weights), axes_.mean_radius,
                              axes_.options);
            if (!(std::abs(from.fit.scale - before) > 1e-7 * before)) break;
        }
        std::fill(start.begin(), start.end(), 0.0);
        for (std::size_t r = 0; r < l.size(); ++r)
            for (std::size_t k = 0; k < start.size(); ++k) start[k] += l[r] * at.basis[r][k];
        return from;
    }

    const EnsembleProblem& axes_;
    const FrameAxes& of_frames_;
};

constexpr int kThetas = 11;

}  // namespace

std::vector<Reweighted> maximum_entropy(const EnsembleProblem& problem, const Context& context) {
    EnsembleProblem asking = problem;
    asking.context = context;
    const FrameAxes of_frames(asking);
    EnsembleProblem axes = asking;
    axes.partial = of_frames.partial;
    std::vector<double> thetas;
    thetas.reserve(kThetas);
    for (int n = 0; n < kThetas; ++n)
        thetas.push_back(static_cast<double>(problem.curve->size()) * std::pow(10, 1 - 0.5 * n));
    const auto fitter = [&](const EnsembleProblem& some) {
        std::vector<double> of_points = thetas;
        for (double& theta : of_points)
            theta *= static_cast<double>(some.curve->size()) /
                     static_cast<double>(problem.curve->size());
        return WeightFit(some, of_frames).run(of_points);
    };
    const auto mean = [&](View<const double, 3> partial, const Weighted& one) {
        return of_frames.mean(partial, one.weights);
    };
    std::vector<Weighted> all =
        cross_validate(axes, fitter, mean, context, "maximum entropy", FitsOfFolds::at_once);
    std::vector<Reweighted> scan;
    for (std::size_t n = 0; n < all.size(); ++n) {
        all[n].fit = fit_at(all[n].fit.contrast, *problem.curve,
                            weighted_partial(problem.partial, all[n].frames, all[n].weights),
                            problem.mean_radius, problem.options);
        scan.push_back({thetas[n], std::move(all[n])});
    }
    return scan;
}

}  // namespace pleat::saxs
