// Maximum entropy: weights of all conformers, as little changed as the curve allows.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/fit/least_squares.h"

namespace pleat::saxs {

namespace {

/// Profiles divided by sigma in few coordinates: frame i is mean + sum_r x_ir basis_r. Profiles of
/// one molecule differ in about as many coordinates as the curve has Shannon channels.
struct Coordinates {
    std::vector<double> mean;                // [point]
    std::vector<std::vector<double>> basis;  // [r][point], orthonormal
    std::vector<std::vector<double>> x;      // [r][frame]
};

/// Gram-Schmidt orthogonalisation, the frame with the longest remainder first, until every
/// remainder is below a thousandth of a standard error.
Coordinates reduce(const Array<double, 2>& profiles, const Profile& curve, const Context& context) {
    constexpr double kEnough = 1e-6;
    const Index frames = profiles.extent(0);
    const std::size_t points = curve.size();
    Coordinates result;
    result.mean.assign(points, 0);
    Array<double, 2> left(frames, static_cast<Index>(points));
    for (Index f = 0; f < frames; ++f) {
        for (std::size_t k = 0; k < points; ++k) {
            left(f, static_cast<Index>(k)) = profiles(f, static_cast<Index>(k)) / curve.sigma[k];
            result.mean[k] += left(f, static_cast<Index>(k)) / static_cast<double>(frames);
        }
    }
    for (Index f = 0; f < frames; ++f) {
        for (std::size_t k = 0; k < points; ++k) left(f, static_cast<Index>(k)) -= result.mean[k];
    }
    double scale = 0;
    for (const double value : result.mean) scale += value * value;
    while (result.basis.size() < std::min(kMaxProfileAxes, points)) {
        throw_if_stopped(context);
        Index longest = 0;
        double largest = -1;
        for (Index f = 0; f < frames; ++f) {
            const double* const row = left[f].data;
            const double length = std::inner_product(row, row + points, row, 0.0);
            if (length > largest) {
                largest = length;
                longest = f;
            }
        }
        // Amplitudes are in electrons here; the scale onto the curve makes the mean about as long
        // as the curve itself, so that lengths compare with it.
        if (largest <= kEnough * kEnough * scale) break;
        std::vector<double> axis(left[longest].data, left[longest].data + points);
        for (double& value : axis) value /= std::sqrt(largest);
        std::vector<double> along(static_cast<std::size_t>(frames));
        for (Index f = 0; f < frames; ++f) {
            double* const row = left[f].data;
            const double part = std::inner_product(row, row + points, axis.begin(), 0.0);
            along[static_cast<std::size_t>(f)] = part;
            for (std::size_t k = 0; k < points; ++k) row[k] -= part * axis[k];
        }
        result.basis.push_back(std::move(axis));
        result.x.push_back(std::move(along));
    }
    return result;
}

/// The dual problem of the weights: minimise ln mean_i exp(-l.y_i) + l.t + theta |l|^2 / 2 over l,
/// with y the scaled coordinates and t those of the curve; the weights are exp(-l.y_i), normalised.
class Dual {
public:
    Dual(const Coordinates& at, double scale, std::vector<double> target, double theta)
        : at_(at), scale_(scale), target_(std::move(target)), theta_(theta) {}

    std::vector<double> run(std::vector<double>& l) {
        constexpr int kMaxSteps = 200;
        double value = evaluate(l);
        for (int step = 0; step < kMaxSteps && !target_.empty(); ++step) {
            std::vector<double> gradient, hessian, direction;
            derive(l, gradient, hessian);
            if (!solve_cholesky(hessian, gradient, direction)) break;
            const double slope =
                std::inner_product(gradient.begin(), gradient.end(), direction.begin(), 0.0);
            if (slope < 1e-12 * std::max(1.0, std::abs(value))) break;
            double length = 1;
            std::vector<double> next(l.size());
            double lower = value;
            do {
                for (std::size_t r = 0; r < l.size(); ++r) next[r] = l[r] - length * direction[r];
                lower = evaluate(next);
                length /= 2;
            } while (!(lower <= value - 0.2 * length * slope) && length > 1e-12);
            if (!(lower < value)) break;
            value = lower;
            l = next;
        }
        evaluate(l);
        return weights_;
    }

private:
    double evaluate(const std::vector<double>& l) {
        const std::size_t frames = at_.x.empty() ? weights_.size() : at_.x.front().size();
        std::vector<double> exponents(frames, 0);
        for (std::size_t r = 0; r < l.size(); ++r) {
            for (std::size_t i = 0; i < frames; ++i) exponents[i] -= l[r] * scale_ * at_.x[r][i];
        }
        const double largest = *std::max_element(exponents.begin(), exponents.end());
        double sum = 0;
        weights_.resize(frames);
        for (std::size_t i = 0; i < frames; ++i)
            sum += weights_[i] = std::exp(exponents[i] - largest);
        for (double& w : weights_) w /= sum;
        double value = largest + std::log(sum / static_cast<double>(frames));
        for (std::size_t r = 0; r < l.size(); ++r)
            value += l[r] * target_[r] + theta_ * l[r] * l[r] / 2;
        return value;
    }
    /// Gradient and Hessian at l.
    void derive(const std::vector<double>& l, std::vector<double>& gradient,
                std::vector<double>& hessian) {
        evaluate(l);
        const std::size_t n = l.size(), frames = weights_.size();
        std::vector<double> mean(n, 0);
        for (std::size_t r = 0; r < n; ++r) {
            for (std::size_t i = 0; i < frames; ++i) mean[r] += weights_[i] * scale_ * at_.x[r][i];
        }
        gradient.assign(n, 0);
        hessian.assign(n * n, 0);
        for (std::size_t r = 0; r < n; ++r) {
            gradient[r] = target_[r] - mean[r] + theta_ * l[r];
            for (std::size_t s = 0; s <= r; ++s) {
                double sum = 0;
                for (std::size_t i = 0; i < frames; ++i)
                    sum += weights_[i] * (scale_ * at_.x[r][i] - mean[r]) *
                           (scale_ * at_.x[s][i] - mean[s]);
                hessian[r * n + s] = hessian[s * n + r] = sum + (r == s ? theta_ : 0);
            }
        }
    }

    const Coordinates& at_;
    const double scale_;
    const std::vector<double> target_;
    const double theta_;
    std::vector<double> weights_;
};

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

/// Weights, scale and background at the contrast of `from`, in turn.
Weighted at_contrast(const EnsembleProblem& problem, double theta, Weighted from) {
    constexpr int kMaxRounds = 50;
    const Coordinates at =
        reduce(frame_profiles(problem, from.fit.contrast), *problem.curve, problem.context);
    if (at.basis.empty()) return from;
    std::vector<double> l(at.basis.size(), 0);
    for (int round = 0; round < kMaxRounds; ++round) {
        throw_if_stopped(problem.context);
        const double before = from.fit.scale;
        from.weights = Dual(at, before, target_of(at, *problem.curve, from.fit), theta).run(l);
        from.fit = fit_at(from.fit.contrast, *problem.curve,
                          weighted_partial(problem.partial, from.frames, from.weights),
                          problem.mean_radius, problem.options);
        if (!(std::abs(from.fit.scale - before) > 1e-7 * before)) break;
    }
    return from;
}

/// Weights at a theta, from those of a larger one; contrast and weights in turn.
Weighted reweight(const EnsembleProblem& problem, double theta, Weighted from) {
    constexpr int kMaxRounds = 20;
    double before = objective(from, theta);
    for (int round = 0; round < kMaxRounds; ++round) {
        Weighted next = at_contrast(problem, theta, from);
        next.fit = fit(*problem.curve, weighted_partial(problem.partial, next.frames, next.weights),
                       problem.mean_radius, problem.options, &from.fit.contrast, problem.context);
        const double after = objective(next, theta);
        if (!(after < before)) break;
        from = std::move(next);
        if (before - after < 1e-5 * before) break;
        before = after;
    }
    return from;
}

constexpr int kThetas = 11;

double theta_of(const Profile& curve, int n) {
    return static_cast<double>(curve.size()) * std::pow(10, 1 - 0.5 * n);
}

std::vector<Weighted> fit_thetas(const EnsembleProblem& problem) {
    Weighted equal;
    const Index frames = problem.partial.extent(0);
    equal.frames.resize(static_cast<std::size_t>(frames));
    std::iota(equal.frames.begin(), equal.frames.end(), Index{0});
    equal.weights.assign(equal.frames.size(), 1.0 / static_cast<double>(frames));
    equal.fit = fit(*problem.curve, weighted_partial(problem.partial, equal.frames, equal.weights),
                    problem.mean_radius, problem.options, nullptr, problem.context);
    std::vector<Weighted> all;
    for (int n = 0; n < kThetas; ++n)
        all.push_back(
            reweight(problem, theta_of(*problem.curve, n), all.empty() ? equal : all.back()));
    return all;
}

}  // namespace

std::vector<Reweighted> maximum_entropy(const EnsembleProblem& problem, const Context& context) {
    EnsembleProblem asking = problem;
    asking.context = context;
    std::vector<Weighted> all = cross_validate(asking, fit_thetas, context, "maximum entropy");
    std::vector<Reweighted> scan;
    for (std::size_t n = 0; n < all.size(); ++n)
        scan.push_back({theta_of(*problem.curve, static_cast<int>(n)), std::move(all[n])});
    return scan;
}

}  // namespace pleat::saxs
