// Fit: linear in scale and background, by a grid and Newton steps in c1 and c2.
#include "pleat/saxs/fit/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "pleat/core/error.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/fit/resampling.h"
#include "pleat/saxs/model/form_factors.h"

namespace pleat::saxs {

double volume_factor(double c1, double mean_radius, double q) {
    const double root = std::cbrt(4 * std::numbers::pi / 3);
    const double width = root * root * mean_radius * mean_radius / (4 * std::numbers::pi);
    return c1 * c1 * c1 * std::exp(-width * (c1 * c1 - 1) * q * q);
}

namespace {

struct Weights {
    Index channels = 1;
    std::array<double, 3> of{};

    Weights(Index pairs, double q, double mean_radius, const Contrast& contrast) {
        if (pairs == kAtomChannels * (kAtomChannels + 1) / 2) {
            channels = kAtomChannels;
            of = {1, -volume_factor(contrast.c1, mean_radius, q), contrast.c2};
        } else {
            channels = pairs > 1 ? kBeadChannels : 1;
            of = {1, contrast.c2, 0};
        }
    }
    double pair(Index a, Index b) const { return of[a] * of[b]; }
};

}  // namespace

Array<double, 2> channel_pair_factors(Index pairs, std::span<const double> q, double mean_radius,
                                      const Contrast& contrast) {
    Array<double, 2> factors(pairs, std::ssize(q));
    for (Index k = 0; k < factors.extent(1); ++k) {
        const Weights weights(pairs, q[k], mean_radius, contrast);
        for (Index a = 0; a < weights.channels; ++a)
            for (Index b = a; b < weights.channels; ++b)
                factors(channel_pair(a, b, weights.channels), k) = weights.pair(a, b);
    }
    return factors;
}

std::vector<double> intensity(View<const double, 2> partial, View<const double, 2> factors) {
    std::vector<double> sum(partial.extent(1), 0);
    for (Index pair = 0; pair < partial.extent(0); ++pair)
        for (Index k = 0; k < partial.extent(1); ++k) sum[k] += factors(pair, k) * partial(pair, k);
    return sum;
}

std::vector<double> intensity(View<const double, 2> partial, std::span<const double> q,
                              double mean_radius, const Contrast& contrast) {
    return intensity(partial, channel_pair_factors(partial.extent(0), q, mean_radius, contrast));
}

namespace {

/// A parameter (c1 or c2) that is searched between its bounds, mapped to [0, 1].
struct Range {
    double min, max;

    double width() const { return max - min; }
    bool is_fixed() const { return width() == 0; }
    double at(double fraction) const { return min + fraction * width(); }
    /// Values of a grid with steps of at most `step`: at least 25, at most 101.
    int grid_size(double step) const {
        return is_fixed()
                   ? 1
                   : static_cast<int>(std::clamp(std::ceil(width() / step) + 1, 25.0, 101.0));
    }
    double fraction(double value) const {
        return is_fixed() ? 0 : std::clamp((value - min) / width(), 0.0, 1.0);
    }
    bool at_bound(double value) const {
        const double slack = 1e-4 * width();
        return !is_fixed() && (value < min + slack || value > max - slack);
    }
};

/// Of c1, which is 1 for beads, and c2.
std::array<Range, 2> ranges_of(const FitOptions& options, bool is_atomic) {
    return {Range{is_atomic ? options.c1_min : 1, is_atomic ? options.c1_max : 1},
            Range{options.c2_min, options.c2_max}};
}

using Point = std::array<double, 2>;

/// Grid search, then damped Newton steps (Levenberg-Marquardt, numerical derivatives) from the best
/// points, within the bounds.
class Search {
public:
    Search(const FitOptions& options, bool is_atomic,
           const std::function<double(const Contrast&)>& chi2, const Context& context,
           double precision)
        : chi2_(chi2),
          context_(context),
          precision_(precision),
          ranges_(ranges_of(options, is_atomic)) {}

    Contrast run(const Contrast* start) {
        std::vector<Minimum> starts;
        if (start == nullptr) {
            starts = scan();
        } else {
            const Point at = {ranges_[0].fraction(start->c1), ranges_[1].fraction(start->c2)};
            starts.push_back({value(at), at});
        }
        Minimum lowest{INFINITY, starts.front().at};
        for (const Minimum& from : starts) {
            smallest_ = from.chi2;
            best_ = from.at;
            descend();
            if (smallest_ < lowest.chi2) lowest = {smallest_, best_};
        }
        return contrast(lowest.at);
    }

private:
    static constexpr int kMaxSteps = 60;
    static constexpr double kPrecision = 1e-7, kDifference = 1e-3;

    struct Minimum {
        double chi2;
        Point at;
    };

    /// Derivatives at the best point, in units of kDifference.
    struct Derivatives {
        Point slope{}, bend{};
        std::array<bool, 2> free{};
        double cross = 0;
    };

    void descend() {
        double damping = 1e-3;
        Derivatives at_best = derivatives();
        for (int step = 0; step < kMaxSteps && damping < 1e8; ++step) {
            const Point move = newton(at_best, damping);
            Point next = best_;
            for (std::size_t n = 0; n < 2; ++n) next[n] = std::clamp(best_[n] + move[n], 0.0, 1.0);
            const double moved =
                std::max(std::abs(next[0] - best_[0]), std::abs(next[1] - best_[1]));
            if (moved < kPrecision || expected_fall(at_best, next) < precision_ * smallest_) break;
            const double result = value(next);
            if (result < smallest_) {
                smallest_ = result;
                best_ = next;
                damping /= 10;
                at_best = derivatives();
            } else {
                damping *= 10;
            }
        }
    }

    /// The expected decrease of chi^2 by a step from the best point, to second order.
    double expected_fall(const Derivatives& at_best, const Point& to) const {
        const double x = (to[0] - best_[0]) / kDifference, y = (to[1] - best_[1]) / kDifference;
        return -(at_best.slope[0] * x + at_best.slope[1] * y + at_best.bend[0] * x * x / 2 +
                 at_best.bend[1] * y * y / 2 + at_best.cross * x * y);
    }

    Contrast contrast(const Point& at) const {
        return {ranges_[0].at(at[0]), ranges_[1].at(at[1])};
    }
    double value(const Point& at) const {
        throw_if_stopped(context_);
        return chi2_(contrast(at));
    }

    /// The lowest local minima of a grid.
    std::vector<Minimum> scan() const {
        constexpr std::size_t kMaxStarts = 3;
        const int rows = ranges_[0].grid_size(0.005), columns = ranges_[1].grid_size(0.25);
        const auto position = [](int n, int count) {
            return count == 1 ? 0 : static_cast<double>(n) / (count - 1);
        };
        std::vector<double> values;
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j)
                values.push_back(value({position(i, rows), position(j, columns)}));
        const auto at = [&](int i, int j) {
            return static_cast<std::size_t>(i) * static_cast<std::size_t>(columns) +
                   static_cast<std::size_t>(j);
        };
        std::vector<Minimum> minima;
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < columns; ++j) {
                const double centre = values[at(i, j)];
                bool is_minimum = true;
                for (int a = std::max(0, i - 1); a <= std::min(rows - 1, i + 1); ++a)
                    for (int b = std::max(0, j - 1); b <= std::min(columns - 1, j + 1); ++b)
                        is_minimum = is_minimum && !(values[at(a, b)] < centre);
                if (is_minimum)
                    minima.push_back({centre, {position(i, rows), position(j, columns)}});
            }
        }
        std::ranges::stable_sort(
            minima, [](const Minimum& a, const Minimum& b) { return a.chi2 < b.chi2; });
        if (minima.size() > kMaxStarts) minima.resize(kMaxStarts);
        return minima;
    }

    Derivatives derivatives() const {
        Derivatives result;
        const auto value_at = [&](double i, double j) {
            return value({best_[0] + i * kDifference, best_[1] + j * kDifference});
        };
        for (std::size_t n = 0; n < 2; ++n) {
            if (ranges_[n].is_fixed()) continue;
            const double up = value_at(n == 0, n == 1), down = value_at(-(n == 0), -(n == 1));
            result.slope[n] = (up - down) / 2;
            // Takes absolute values of the eigenvalues, so that a step at a saddle point goes
            // downhill.
            result.bend[n] =
                std::max(std::abs(up - 2 * smallest_ + down), 1e-12 * smallest_ + 1e-300);
            result.free[n] =
                !(best_[n] <= 0 && result.slope[n] > 0) && !(best_[n] >= 1 && result.slope[n] < 0);
        }
        if (result.free[0] && result.free[1])
            result.cross =
                (value_at(1, 1) - value_at(1, -1) - value_at(-1, 1) + value_at(-1, -1)) / 4;
        return result;
    }

    /// The step from the best point; 0 for a quantity that is fixed or held at its bound.
    Point newton(const Derivatives& at_best, double damping) const {
        const double a = at_best.bend[0] * (1 + damping), b = at_best.bend[1] * (1 + damping);
        const double cross = at_best.cross, determinant = a * b - cross * cross;
        if (at_best.free[0] && at_best.free[1] && determinant > 1e-10 * a * b) {
            Point move = {
                (cross * at_best.slope[1] - b * at_best.slope[0]) / determinant * kDifference,
                (cross * at_best.slope[0] - a * at_best.slope[1]) / determinant * kDifference};
            // If one parameter reaches its bound, the best step of the other must be recomputed:
            // both are strongly correlated, so the remaining step would leave the valley.
            for (const std::size_t n : {0, 1}) {
                const double next = best_[n] + move[n];
                if (next >= 0 && next <= 1) continue;
                move[n] = std::clamp(next, 0.0, 1.0) - best_[n];
                move[1 - n] =
                    -(at_best.slope[1 - n] * kDifference + cross * move[n]) / (n == 0 ? b : a);
                break;
            }
            return move;
        }
        Point move{};
        if (at_best.free[0]) move[0] = -at_best.slope[0] / a * kDifference;
        if (at_best.free[1]) move[1] = -at_best.slope[1] / b * kDifference;
        return move;
    }

    const std::function<double(const Contrast&)>& chi2_;
    const Context& context_;
    const double precision_;
    const std::array<Range, 2> ranges_;
    Point best_{};
    double smallest_ = 0;
};

}  // namespace

CurveScaling fit_scale(const Profile& curve, std::span<const double> model, bool background) {
    double mm = 0, m1 = 0, s1 = 0, im = 0, i1 = 0;
    for (std::size_t k = 0; k < curve.size(); ++k) {
        const double w = 1 / (curve.sigma[k] * curve.sigma[k]);
        mm += w * model[k] * model[k];
        m1 += w * model[k];
        s1 += w;
        im += w * curve.intensity[k] * model[k];
        i1 += w * curve.intensity[k];
    }
    CurveScaling result;
    const double determinant = mm * s1 - m1 * m1;
    // A constant model cannot be distinguished from a constant background.
    if (background && determinant > 1e-12 * mm * s1) {
        result.scale = (im * s1 - i1 * m1) / determinant;
        result.background = (mm * i1 - m1 * im) / determinant;
    }
    if (!background || result.scale <= 0 || result.background == 0) {
        result.scale = mm > 0 ? std::max(0.0, im / mm) : 0;
        result.background = 0;
        if (background && result.scale == 0) result.background = i1 / s1;
    }
    for (std::size_t k = 0; k < curve.size(); ++k) {
        const double left = curve.intensity[k] - result.scale * model[k] - result.background;
        result.chi2 += left * left / (curve.sigma[k] * curve.sigma[k]);
    }
    return result;
}

Contrast search_contrast(const FitOptions& options, bool is_atomic,
                         const std::function<double(const Contrast&)>& chi2, const Contrast* start,
                         const Context& context, double precision) {
    return Search(options, is_atomic, chi2, context, precision).run(start);
}

bool are_atomic(View<const double, 2> partial) {
    return partial.extent(0) == kAtomChannels * (kAtomChannels + 1) / 2;
}

Fit fit_at(const Contrast& contrast, const Profile& curve, View<const double, 2> partial,
           double mean_radius, const FitOptions& options, Index extra) {
    Fit fit;
    fit.contrast = contrast;
    fit.model = intensity(partial, curve.q, mean_radius, contrast);
    const CurveScaling scaling = fit_scale(curve, fit.model, options.background);
    for (double& value : fit.model) value = scaling.scale * value + scaling.background;
    const auto [c1, c2] = ranges_of(options, are_atomic(partial));
    fit.scale = scaling.scale;
    fit.background = scaling.background;
    fit.points = std::ssize(curve);
    fit.parameters = 1 + options.background + !c1.is_fixed() + !c2.is_fixed() + extra;
    fit.chi2 = scaling.chi2 / static_cast<double>(fit.points);
    fit.chi2_reduced =
        scaling.chi2 / static_cast<double>(std::max<Index>(1, fit.points - fit.parameters));
    fit.c1_at_bound = c1.at_bound(contrast.c1);
    fit.c2_at_bound = c2.at_bound(contrast.c2);
    return fit;
}

Fit fit(const Profile& curve, View<const double, 2> partial, double mean_radius,
        const FitOptions& options, const Contrast* start, const Context& context) {
    const CurveProblem problem{&curve, partial, options};
    return fit_jointly({&problem, 1}, mean_radius, context, start).front();
}

Array<double, 2> resample_profiles(View<const double, 2> partial, std::span<const double> q,
                                   std::span<const double> to) {
    const auto rises = [](std::span<const double> values) {
        return std::adjacent_find(values.begin(), values.end(),
                                  [](double a, double b) { return !(a < b); }) == values.end();
    };
    if (q.size() < 2 || !rises(q) || std::ssize(q) != partial.extent(1))
        throw InputError(fmt::format("expected 2 or more rising q, one a point of {}, found {}",
                                     partial.extent(1), q.size()));
    if (!std::ranges::is_sorted(to) ||
        (!to.empty() && !(to.front() >= q.front() && to.back() <= q.back())))
        throw InputError(fmt::format(
            "expected q from {:g} to {:g} that does not fall to read off at, found others",
            q.front(), q.back()));
    Array<double, 2> at(partial.extent(0), std::ssize(to));
    for (Index pair = 0; pair < partial.extent(0); ++pair) {
        const std::vector<double> values =
            interpolate_spline(q, {partial[pair].begin(), q.size()}, to);
        std::ranges::copy(values, at[pair].begin());
    }
    return at;
}

Profile cut_curve(const Profile& curve, double q_max) {
    Profile cut;
    cut.source = curve.source;
    for (std::size_t k = 0; k < curve.size(); ++k) {
        const double reach = curve.dq.empty() ? 0 : kSmearingReach * curve.dq[k];
        if (curve.q[k] + reach > q_max) continue;
        cut.q.push_back(curve.q[k]);
        cut.intensity.push_back(curve.intensity[k]);
        cut.sigma.push_back(curve.sigma[k]);
        if (!curve.dq.empty()) cut.dq.push_back(curve.dq[k]);
    }
    return cut;
}

std::vector<Fit> fit_jointly(std::span<const CurveProblem> problems, double mean_radius,
                             const Context& context, const Contrast* start) {
    const auto chi2 = [&](const Contrast& contrast) {
        double sum = 0;
        for (const CurveProblem& one : problems)
            sum +=
                fit_scale(*one.curve, intensity(one.partial, one.curve->q, mean_radius, contrast),
                          one.options.background)
                    .chi2;
        return sum;
    };
    const CurveProblem& first = problems.front();
    const Contrast best =
        search_contrast(first.options, are_atomic(first.partial), chi2, start, context);
    std::vector<Fit> fits;
    for (const CurveProblem& one : problems)
        fits.push_back(fit_at(best, *one.curve, one.partial, mean_radius, one.options));
    return fits;
}

JointFit summarize(std::span<const Fit> fits, const FitOptions& options) {
    const Index searched = (options.c1_min < options.c1_max) + (options.c2_min < options.c2_max);
    JointFit joint;
    joint.parameters = searched;
    double sum = 0;
    for (const Fit& fit : fits) {
        sum += fit.chi2 * static_cast<double>(fit.points);
        joint.points += fit.points;
        joint.parameters += fit.parameters - searched;
    }
    joint.chi2 = sum / static_cast<double>(joint.points);
    joint.chi2_reduced =
        sum / static_cast<double>(std::max<Index>(1, joint.points - joint.parameters));
    return joint;
}

double few_runs_probability(std::span<const double> residuals) {
    double positive = 0, runs = 1;
    for (std::size_t n = 0; n < residuals.size(); ++n) {
        positive += residuals[n] > 0;
        if (n > 0) runs += (residuals[n] > 0) != (residuals[n - 1] > 0);
    }
    const auto count = static_cast<double>(residuals.size());
    const double negative = count - positive, mean = 2 * positive * negative / count + 1,
                 variance = (mean - 1) * (mean - 2) / (count - 1);
    if (count < 2) return 1;
    if (positive == 0 || negative == 0) return 0;
    if (!(variance > 0)) return 1;  // one of each sign: always two runs
    return std::erfc((mean - runs) / std::sqrt(2 * variance)) / 2;
}

}  // namespace pleat::saxs
