// Maximum entropy: weights of all conformers, as little changed as the curve allows.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/fit/frame_axes.h"
#include "pleat/saxs/fit/least_squares.h"
#include "pleat/saxs/fit/reweight.h"
#include "pleat/saxs/fit/weight_dual.h"

namespace pleat::saxs {

namespace {

/// Finds the contrast that is optimal for the weights that are optimal at this contrast.
/// Alternating both took more than 20 rounds.
class FixedPoint {
public:
    explicit FixedPoint(const FitOptions& options) : options_(options) {}

    /// The contrast to try next, from the one tried last and the best one for its weights, by the
    /// secant method in two dimensions (Anderson, J. ACM 12:547, 1965).
    Contrast next(const Contrast& tried, const Contrast& best) {
        const Pair to = unit(best), from = unit(tried);
        points_.push_back({to, {to[0] - from[0], to[1] - from[1]}});
        if (points_.size() > 3) points_.erase(points_.begin());
        is_extrapolated_ = points_.size() > 1;
        Pair result = to;
        // The combination of the changes between points whose sum with the last step is shortest.
        std::vector<Pair> steps, moves;
        for (std::size_t n = 0; n + 1 < points_.size(); ++n) {
            const Point &a = points_[n], &b = points_.back();
            steps.push_back({b.step[0] - a.step[0], b.step[1] - a.step[1]});
            moves.push_back({b.to[0] - a.to[0], b.to[1] - a.to[1]});
        }
        std::vector<double> matrix, right, amounts;
        for (std::size_t n = 0; n < steps.size(); ++n) {
            right.push_back(product(steps[n], points_.back().step));
            for (std::size_t m = 0; m < steps.size(); ++m)
                matrix.push_back(product(steps[n], steps[m]) * (n == m ? 1 + 1e-9 : 1));
        }
        if (!steps.empty() && solve_cholesky(matrix, right, amounts))
            for (std::size_t n = 0; n < steps.size(); ++n)
                for (std::size_t k = 0; k < 2; ++k) result[k] -= amounts[n] * moves[n][k];
        return contrast(limited(from, to, result));
    }
    /// Continues without what was tried before.
    Contrast restart(const Contrast& best) {
        points_.clear();
        is_extrapolated_ = false;
        return best;
    }
    /// Whether the contrast that next() or restart() returned last is extrapolated.
    bool is_extrapolated() const { return is_extrapolated_; }

private:
    using Pair = std::array<double, 2>;
    struct Point {
        Pair to, step;
    };
    /// The point in the direction of `wanted` that is not much farther from `from` than `to` is.
    static Pair limited(const Pair& from, const Pair& to, const Pair& wanted) {
        constexpr double kMaxFactor = 10, kMaxStep = 0.1;
        const Pair step = {to[0] - from[0], to[1] - from[1]},
                   far = {wanted[0] - to[0], wanted[1] - to[1]};
        const double length = std::sqrt(product(step, step)), extra = std::sqrt(product(far, far)),
                     allowed = std::min(kMaxFactor * length, kMaxStep);
        if (!(extra > allowed)) return wanted;
        return {to[0] + far[0] * allowed / extra, to[1] + far[1] * allowed / extra};
    }
    static double product(const Pair& a, const Pair& b) { return a[0] * b[0] + a[1] * b[1]; }
    /// c1 and c2 in units of their ranges.
    Pair unit(const Contrast& of) const {
        const double c1 = options_.c1_max - options_.c1_min, c2 = options_.c2_max - options_.c2_min;
        return {c1 > 0 ? of.c1 / c1 : 0, c2 > 0 ? of.c2 / c2 : 0};
    }
    Contrast contrast(const Pair& of) const {
        const double c1 = options_.c1_max - options_.c1_min, c2 = options_.c2_max - options_.c2_min;
        return {
            c1 > 0 ? std::clamp(of[0] * c1, options_.c1_min, options_.c1_max) : options_.c1_min,
            c2 > 0 ? std::clamp(of[1] * c2, options_.c2_min, options_.c2_max) : options_.c2_min};
    }

    const FitOptions& options_;
    std::vector<Point> points_;
    bool is_extrapolated_ = false;
};

/// The number of points and observables of a problem.
std::size_t data_count(const EnsembleProblem& problem) {
    return problem.curve->size() +
           (problem.observables != nullptr ? problem.observables->target.size() : 0);
}

/// Fits the weights of frames whose partial profiles are combinations of a problem's axes.
class WeightFit {
public:
    WeightFit(const EnsembleProblem& axes, const FrameAxes& of_frames)
        : axes_(axes), frame_axes_(of_frames) {}

    /// The weights for each theta, largest theta first.
    std::vector<Weighted> run(const std::vector<double>& thetas) const {
        Weighted one;
        one.frames.resize(frame_axes_.amounts.extent(1));
        std::iota(one.frames.begin(), one.frames.end(), Index{0});
        one.weights.assign(one.frames.size(), 1.0 / static_cast<double>(one.frames.size()));
        one.fit = fit(*axes_.curve, frame_axes_.mean(axes_.partial, one.weights), axes_.mean_radius,
                      axes_.options, nullptr, axes_.context);
        std::vector<Weighted> all;
        all.reserve(thetas.size());
        std::vector<double> start(data_count(axes_), 0);
        for (const double theta : thetas)
            all.push_back(one = reweight(theta, std::move(one), start));
        return all;
    }

private:
    double objective(const Weighted& one, double theta) const {
        const auto frames = static_cast<double>(one.weights.size());
        const double entropy = std::log(effective_count(one.weights) / frames);
        const double value =
            one.fit.chi2 * static_cast<double>(one.fit.points) / 2 - theta * entropy;
        if (axes_.observables == nullptr) return value;
        return value + axes_.observables->fit(one.weights, theta).chi2 *
                           static_cast<double>(axes_.observables->size()) / 2;
    }

    /// The weights at a theta, starting from those of a larger one. `start` [point and
    /// observable]: sum_r l_r basis_r of the last dual problem, where the next one starts, and l of
    /// the observables.
    Weighted reweight(double theta, Weighted from, std::vector<double>& start) const {
        constexpr int kMaxRounds = 30;
        constexpr double kPrecision = 1e-6;
        FixedPoint contrasts(axes_.options);
        Weighted best = from;
        double lowest = objective(from, theta), tolerance = kDirectionTolerance;
        for (int round = 0; round < kMaxRounds; ++round) {
            Weighted next = at_contrast(theta, from, start, tolerance);
            const double before = objective(next, theta);
            const Contrast tried = next.fit.contrast;
            next.fit = fit(*axes_.curve, frame_axes_.mean(axes_.partial, next.weights),
                           axes_.mean_radius, axes_.options, &tried, axes_.context);
            const double after = objective(next, theta);
            const bool is_better = after < lowest;
            if (is_better) {
                best = next;
                lowest = after;
            } else if (!contrasts.is_extrapolated()) {
                break;
            }
            if (is_better && before - after < kPrecision * before) break;
            from = is_better ? next : best;
            const Contrast to = is_better ? contrasts.next(tried, next.fit.contrast)
                                          : contrasts.restart(best.fit.contrast);
            from.fit = fit_at(to, *axes_.curve, frame_axes_.mean(axes_.partial, from.weights),
                              axes_.mean_radius, axes_.options);
        }
        return best;
    }

    /// Weights, scale and background at the contrast of `from`. `tolerance` of the directions is
    /// reduced if they omit too much; later rounds keep it, because they would not converge with
    /// changing tolerances.
    Weighted at_contrast(double theta, Weighted from, std::vector<double>& start,
                         double& tolerance) const {
        // Of chi^2 per point / 2.
        constexpr double kMaxExcess = 1e-3;
        for (;; tolerance /= 4) {
            ProfileCoordinates at(axes_, frame_axes_, from.fit, tolerance);
            std::vector<double> l;
            for (const std::vector<double>& axis : at.basis)
                l.push_back(dot(axis.data(), start.data(), axis.size()));
            const auto observed = start.begin() + std::ssize(*axes_.curve);
            l.insert(l.end(), observed, start.end());
            if (axes_.observables != nullptr)
                at.x.add_observables(axes_.observables->x, axes_.observables->signs);
            const std::function<int()> threads = [&] { return axes_.threads(); };
            WeightDual dual(at.x, threads, axes_.context);
            const auto [weights, scale] = weights_and_scale(at, theta, from.fit.scale, dual, l);
            const double enough = kMaxExcess * static_cast<double>(axes_.curve->size());
            if (!at.is_complete() && at.excess(weights, theta, scale) > enough) continue;
            from.weights = weights;
            std::ranges::fill(start, 0.0);
            for (std::size_t r = 0; r < at.basis.size(); ++r)
                for (std::size_t k = 0; k < at.basis[r].size(); ++k)
                    start[k] += l[r] * at.basis[r][k];
            std::copy(l.begin() + std::ssize(at.basis), l.end(), observed);
            break;
        }
        from.fit =
            fit_at(from.fit.contrast, *axes_.curve, frame_axes_.mean(axes_.partial, from.weights),
                   axes_.mean_radius, axes_.options);
        return from;
    }

    /// The weights at the scale that is optimal for them, by the secant method; alternating both
    /// took more than 50 rounds.
    std::pair<std::vector<double>, double> weights_and_scale(const ProfileCoordinates& at,
                                                             double theta, double scale,
                                                             WeightDual& dual,
                                                             std::vector<double>& l) const {
        constexpr int kMaxRounds = 50;
        constexpr double kMaxExtrapolation = 1e5;
        double last_scale = 0, last_change = 0;
        for (int round = 0;; ++round) {
            throw_if_stopped(axes_.context);
            std::vector<double> target = at.target(scale);
            if (axes_.observables != nullptr)
                target.insert(target.end(), axes_.observables->target.begin(),
                              axes_.observables->target.end());
            std::vector<double> weights = dual.minimize(scale, target, theta, l);
            const double change = at.best_scale(dual.mean()) - scale;
            // The secant factor that extends the step to the scale which is best for these weights.
            double factor = 1;
            if (round > 0 && last_change != change)
                factor = (scale - last_scale) / (last_change - change);
            if (!(factor > 1)) factor = 1;
            const double step =
                std::clamp(std::min(factor, kMaxExtrapolation) * change, -0.1 * scale, 0.1 * scale);
            if (!(std::abs(step) > 1e-7 * scale) || scale + step <= 0 || round == kMaxRounds)
                return {std::move(weights), scale};
            last_scale = scale;
            last_change = change;
            scale += step;
        }
    }

    const EnsembleProblem& axes_;
    const FrameAxes& frame_axes_;
};

}  // namespace

std::vector<double> theta_scan(std::size_t points) {
    constexpr int kThetas = 11;
    std::vector<double> thetas;
    thetas.reserve(kThetas);
    for (int n = 0; n < kThetas; ++n)
        thetas.push_back(static_cast<double>(points) * std::pow(10, 1 - 0.5 * n));
    return thetas;
}

std::vector<Reweighted> maximum_entropy(const EnsembleProblem& problem, const Context& context) {
    EnsembleProblem asking = problem;
    asking.context = context;
    const FrameAxes of_frames(asking);
    warn_of_axes(problem, of_frames);
    EnsembleProblem axes = asking;
    axes.partial = of_frames.partial;
    const std::vector<double> thetas = theta_scan(data_count(problem));
    const auto fitter = [&](const EnsembleProblem& some) {
        std::vector<double> of_points = thetas;
        for (double& theta : of_points)
            theta *=
                static_cast<double>(data_count(some)) / static_cast<double>(data_count(problem));
        return WeightFit(some, of_frames).run(of_points);
    };
    const auto mean = [&](View<const double, 3> partial, const Weighted& one) {
        return of_frames.mean(partial, one.weights);
    };
    std::vector<Weighted> all = cross_validate(axes, fitter, mean, context, "maximum entropy");
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
