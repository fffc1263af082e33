// Guinier: straight and curved lines through all ranges of points by sums from the first.
#include "pleat/bio/scattering/guinier.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pleat {

namespace {

constexpr double kMaxProduct = 1.3;
constexpr std::size_t kMinPoints = 5;
/// Standard deviation of c in ln I = ln I(0) - y / 3 + c y^2, y = (q Rg)^2, over shapes: -0.010 for
/// hollow spheres, -0.008 for spheres, 0.024 for thin rods, 0.028 for Gaussian chains.
constexpr double kCurvature = 0.016, kMinCurvature = -0.010, kMaxCurvature = 0.028;
/// Ranges that leave out points from the first on to q lose exp(-x^2 / 2), x = q Rg / this.
constexpr double kLeftOut = 0.15;
/// Windows whose weight is smaller than the largest by more than this power of e do not count.
constexpr double kReach = 8;

/// Points of a line y(x) with weights 1 / error^2.
struct LinePoints {
    std::vector<double> x, y, weight;
    std::vector<std::size_t> first, last;  ///< points of the curve that are joined to one
};

/// Weighted sums of x^0 ... x^4, y x^0 ... y x^2 and y^2.
struct Sums {
    double x[5] = {}, y[3] = {}, yy = 0;

    void add(double px, double py, double weight, double sign = 1) {
        double power = sign * weight;
        for (int k = 0; k < 5; ++k, power *= px) {
            x[k] += power;
            if (k < 3) y[k] += power * py;
        }
        yy += sign * weight * py * py;
    }
};

Sums difference(const Sums& a, const Sums& b) {
    Sums d;
    for (int k = 0; k < 5; ++k) d.x[k] = a.x[k] - b.x[k];
    for (int k = 0; k < 3; ++k) d.y[k] = a.y[k] - b.y[k];
    d.yy = a.yy - b.yy;
    return d;
}

/// A line y = start + slope x through one range of points.
struct FittedLine {
    double start = 0, slope = 0, start_error = 0, slope_error = 0, chi2 = 0;
    /// Of a term curvature x^2 added to the line, if there were one: its estimate and error, and
    /// how much it would change slope and start.
    double curvature = 0, curvature_error = 0, slope_shift = 0, start_shift = 0;
};

double slope_between(const Sums& from, const Sums& to) {
    const double s = to.x[0] - from.x[0], x = to.x[1] - from.x[1], y = to.y[0] - from.y[0];
    return (s * (to.y[1] - from.y[1]) - x * y) / (s * (to.x[2] - from.x[2]) - x * x);
}

FittedLine line_of(const Sums& s) {
    FittedLine line;
    const double mean = s.x[1] / s.x[0], mean2 = s.x[2] / s.x[0];
    const double variance = mean2 - mean * mean;  // of x
    const double covariance = s.x[3] / s.x[0] - mean * mean2;
    const double variance2 = s.x[4] / s.x[0] - mean2 * mean2;
    const double y_mean = s.y[0] / s.x[0];
    const double with_y = s.y[1] / s.x[0] - mean * y_mean;
    line.slope = with_y / variance;
    line.start = y_mean - line.slope * mean;
    line.slope_error = 1 / std::sqrt(s.x[0] * variance);
    line.start_error = std::sqrt(1 / s.x[0] + mean * mean / (s.x[0] * variance));
    line.chi2 =
        std::max(0.0, s.yy - s.x[0] * y_mean * y_mean - s.x[0] * with_y * with_y / variance);
    line.slope_shift = covariance / variance;
    line.start_shift = mean2 - line.slope_shift * mean;
    const double rest = variance2 - covariance * line.slope_shift;  // of x^2 beside the line
    const double rest_y = s.y[2] / s.x[0] - mean2 * y_mean - line.slope_shift * with_y;
    line.curvature = rest_y / rest;
    line.curvature_error = 1 / std::sqrt(s.x[0] * rest);
    return line;
}

/// One range of points and what it says; sizes are Rg or Rc.
struct Window {
    std::size_t first = 0, last = 0;
    double size = 0, size_variance = 0;  ///< relative variance
    double start = 0, start_variance = 0;
    double size_curvature = 0, start_curvature = 0;  ///< errors by a curvature not excluded
    double slope_shift = 0, start_shift = 0;         ///< of a line, by a term x^2
    double chi2 = 0, trend = 0, log_weight = 0;
};

/// By how much a value lies outside what the curvatures of shapes make, times `factor`.
double beyond(double value, double factor) {
    return value - std::clamp(value, std::min(kMinCurvature * factor, kMaxCurvature * factor),
                              std::max(kMinCurvature * factor, kMaxCurvature * factor));
}

/// All windows that count, with slope = -size^2 / `divisor`, q * size <= 1.3 and a positive size.
std::vector<Window> all_windows(const LinePoints& line, double divisor, double scatter) {
    std::vector<Sums> sums(line.x.size() + 1);
    for (std::size_t k = 0; k < line.x.size(); ++k) {
        sums[k + 1] = sums[k];
        sums[k + 1].add(line.x[k], line.y[k], line.weight[k]);
    }
    std::vector<Window> windows;
    double best = -INFINITY;
    for (std::size_t first = 0; first + kMinPoints <= line.x.size(); ++first)
        for (std::size_t last = first + kMinPoints - 1; last < line.x.size(); ++last) {
            const double size2 = -divisor * slope_between(sums[first], sums[last + 1]);
            if (!(size2 > 0) || size2 * line.x[last] > kMaxProduct * kMaxProduct) continue;
            const FittedLine fit = line_of(difference(sums[last + 1], sums[first]));
            Window one{.first = first, .last = last, .size = std::sqrt(size2)};
            const double degrees = static_cast<double>(last - first - 1);
            one.chi2 = fit.chi2 / degrees;
            const double half = divisor / (2 * size2);  // d ln(size) / d slope
            one.size_variance = scatter * half * half * fit.slope_error * fit.slope_error;
            one.start = fit.start;
            one.start_variance = scatter * fit.start_error * fit.start_error;
            // Curvatures are in units of size^4.
            const double noise = std::sqrt(scatter) * fit.curvature_error / (size2 * size2);
            // Its estimate is as large an error as its uncertainty: the line has none.
            const double share =
                kCurvature * kCurvature / (kCurvature * kCurvature + noise * noise);
            const double spread =
                std::hypot(std::sqrt(share) * noise, share * fit.curvature / (size2 * size2));
            one.size_curvature = half * fit.slope_shift * size2 * size2 * spread;
            one.start_curvature = fit.start_shift * size2 * size2 * spread;
            one.slope_shift = fit.slope_shift;
            one.start_shift = fit.start_shift;
            one.trend = beyond(fit.curvature / (size2 * size2), 1) / noise;
            const double excess =
                std::max(0.0, (fit.chi2 / scatter - degrees) / std::sqrt(2 * degrees));
            const double left_out =
                (std::sqrt(line.x[first]) - std::sqrt(line.x[0])) * one.size / kLeftOut;
            // The curvatures that shapes have do not count against a range.
            const double bend = fit.curvature / (size2 * size2) / std::hypot(noise, kCurvature);
            one.log_weight = -0.5 * (bend * bend + excess * excess + left_out * left_out) -
                             2 * std::log(one.size_variance);
            if (!(one.log_weight > best - kReach) || std::isinf(one.log_weight)) continue;
            best = std::max(best, one.log_weight);
            windows.push_back(one);
        }
    return windows;
}

/// The parts of the error of what the chosen range says: its noise, the spread of other ranges
/// about it, and a curvature that its points do not exclude.
struct RangeError {
    double noise = 0, choice = 0, curvature = 0;
    double all() const { return std::hypot(noise, choice, curvature); }
};
RangeError range_error(const std::vector<Window>& windows, const Window& range, bool of_size) {
    double total = 0, sum = 0;
    for (const Window& one : windows) {
        if (one.log_weight < range.log_weight - kReach) continue;
        const double weight = std::exp(one.log_weight - range.log_weight);
        const double gap = of_size ? std::log(one.size / range.size) : one.start - range.start;
        total += weight;
        sum += weight * gap * gap;
    }
    const double variance = of_size ? range.size_variance : range.start_variance;
    const double curvature = of_size ? range.size_curvature : range.start_curvature;
    return {std::sqrt(variance), std::sqrt(sum / total), std::abs(curvature)};
}

/// Means of each point and up to `reach` neighbours on either side.
std::vector<double> smoothed(const std::vector<double>& values, std::size_t reach) {
    std::vector<double> means(values.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
        const std::size_t n = std::min({reach, k, values.size() - 1 - k});
        double sum = 0;
        for (std::size_t j = k - n; j <= k + n; ++j) sum += values[j];
        means[k] = sum / static_cast<double>(2 * n + 1);
    }
    return means;
}

/// ln(q^power I) of points of the curve from `first` on, neighbours joined to at most `count`.
LinePoints line_points(const Profile& curve, const std::vector<double>& smooth, std::size_t first,
                       std::size_t end, std::size_t count, int power) {
    const std::size_t step = (end - first + count - 1) / count;
    LinePoints line;
    for (std::size_t k = first; k < end; k += step) {
        double weight = 0, q2 = 0, intensity = 0;
        for (std::size_t j = k; j < std::min(k + step, end); ++j) {
            const double w = std::pow(smooth[j] / curve.sigma[j], 2);
            if (!(smooth[j] > 0) || curve.q[j] == 0) continue;
            weight += w;
            q2 += w * curve.q[j] * curve.q[j];
            intensity += w * curve.intensity[j];
        }
        if (!(intensity > 0)) continue;
        line.x.push_back(q2 / weight);
        line.y.push_back(std::log(intensity / weight) + power / 2.0 * std::log(q2 / weight));
        line.weight.push_back(weight);
        line.first.push_back(k);
        line.last.push_back(std::min(k + step, end) - 1);
    }
    return line;
}

/// The first points, to where the intensity has fallen to a tenth of its largest median of 5, which
/// one or two points in a leak of the beam do not raise.
LinePoints guinier_points(const Profile& curve, std::size_t count) {
    constexpr double kMinFraction = 0.1;
    const std::vector<double> mean = smoothed(curve.intensity, 4);
    if (curve.size() < kMinPoints) return {};
    const auto median = [&](std::size_t k) {
        const std::size_t from = std::clamp<std::size_t>(k, 2, curve.size() - 3) - 2;
        double near[5];
        std::copy_n(curve.intensity.begin() + static_cast<std::ptrdiff_t>(from), 5, near);
        std::nth_element(near, near + 2, near + 5);
        return near[2];
    };
    std::size_t first = 0;
    while (first < curve.size() && (!(mean[first] > 0) || curve.q[first] == 0)) ++first;
    std::size_t end = first;
    for (double largest = 0; end < curve.size(); ++end) {
        const double here = median(end);
        largest = std::max(largest, here);
        if (here <= kMinFraction * largest && end >= first + kMinPoints) break;
    }
    return line_points(curve, mean, first, end, count, 0);
}

/// Compares the points before the range with its line: the mean of their residuals, in standard
/// errors, without what the curvatures of shapes explain; and the first point from which on they
/// agree.
void compare_points_before(const Profile& curve, const Window& range, double divisor,
                           double scatter, Guinier& result) {
    constexpr double kAgree = 3;
    double sum = 0, weight = 0, of_curvature = 0;
    const double size4 = std::pow(range.size, 4);
    result.first_good = result.first;
    for (std::size_t k = result.first; k-- > 0;) {
        const double x = curve.q[k] * curve.q[k];
        const double law = std::exp(range.start - range.size * range.size / divisor * x);
        const double w = std::pow(law / curve.sigma[k], 2);
        sum += w * (curve.intensity[k] / law - 1);
        of_curvature += w * size4 * (x * x - range.slope_shift * x - range.start_shift);
        weight += w;
        result.deviation_before = beyond(sum / weight, of_curvature / weight) /
                                  std::sqrt(scatter / weight + range.start_variance);
        if (result.first_good == k + 1 && std::abs(result.deviation_before) < kAgree)
            result.first_good = k;
    }
}

}  // namespace

double scatter_of_neighbours(const Profile& curve, std::size_t count) {
    // Without its largest tenth, the mean of squared standard normal numbers is 0.623: P(chi^2 of 3
    // degrees < 2.706) / 0.9. Some bad points must not excuse themselves.
    constexpr double kKept = 0.9, kMeanOfKept = 0.623;
    constexpr std::size_t kMinCount = 12;
    count = std::min(count, curve.size());
    if (count < kMinCount) return 1;
    std::vector<double> squares;
    squares.reserve(count);
    for (std::size_t k = 1; k + 1 < count; ++k) {
        // The middle point against the line through its neighbours.
        const double t = (curve.q[k] - curve.q[k - 1]) / (curve.q[k + 1] - curve.q[k - 1]);
        const double gap =
            curve.intensity[k] - (1 - t) * curve.intensity[k - 1] - t * curve.intensity[k + 1];
        const double before = (1 - t) * curve.sigma[k - 1], after = t * curve.sigma[k + 1];
        squares.push_back(gap * gap /
                          (curve.sigma[k] * curve.sigma[k] + before * before + after * after));
    }
    std::ranges::sort(squares);
    squares.resize(static_cast<std::size_t>(kKept * static_cast<double>(squares.size())));
    return std::accumulate(squares.begin(), squares.end(), 0.0) /
           (kMeanOfKept * static_cast<double>(squares.size()));
}

Guinier guinier(const Profile& curve, std::size_t joined) {
    constexpr double kDivisor = 3, kMaxResidual = 4;
    Guinier result;
    const LinePoints line = guinier_points(curve, joined);
    if (line.x.size() < kMinPoints) return result;
    const double scatter = std::max(1.0, scatter_of_neighbours(curve, line.last.back() + 1));
    const std::vector<Window> windows = all_windows(line, kDivisor, scatter);
    if (windows.empty()) return result;
    const Window range = *std::ranges::max_element(windows, {}, &Window::log_weight);
    const RangeError size = range_error(windows, range, true),
                     start = range_error(windows, range, false);
    result.is_valid = true;
    result.gyration_radius = range.size;
    result.gyration_radius_error = size.all() * range.size;
    result.error_of_points = size.noise * range.size;
    result.error_of_range = size.choice * range.size;
    result.error_of_curvature = size.curvature * range.size;
    result.forward_intensity = std::exp(range.start);
    result.forward_intensity_error = start.all() * result.forward_intensity;
    result.first = line.first[range.first];
    result.last = line.last[range.last];
    result.chi2 = range.chi2;
    result.trend = range.trend;
    compare_points_before(curve, range, kDivisor, scatter, result);
    for (std::size_t k = result.first; k <= result.last; ++k) {
        const double law =
            std::exp(range.start - range.size * range.size / kDivisor * curve.q[k] * curve.q[k]);
        if (std::abs(curve.intensity[k] - law) > kMaxResidual * std::sqrt(scatter) * curve.sigma[k])
            result.outliers.push_back(k);
    }
    return result;
}

CrossSection cross_section(const Profile& curve, double gyration_radius) {
    constexpr double kMinProduct = 2.5, kMaxProductOfLength = 16, kDivisor = 2;
    constexpr double kMinRatio = 3, kMaxTrend = 2;
    constexpr std::size_t kJoined = 200;
    CrossSection result;
    const std::vector<double> mean = smoothed(curve.intensity, 4);
    std::size_t first = 0;
    while (first < curve.size() && curve.q[first] * gyration_radius < kMinProduct) ++first;
    std::size_t end = first;
    while (end < curve.size() && curve.intensity[end] > 0 && mean[end] >= 3 * curve.sigma[end] &&
           curve.q[end] * gyration_radius <= kMaxProductOfLength)
        ++end;
    const LinePoints line = line_points(curve, mean, first, end, kJoined, 1);
    if (line.x.size() < 2 * kMinPoints) return result;
    const std::vector<Window> windows = all_windows(line, kDivisor, 1);
    if (windows.empty()) return result;
    const Window range = *std::ranges::max_element(windows, {}, &Window::log_weight);
    result.radius = range.size;
    result.radius_error = range_error(windows, range, true).all() * range.size;
    const double length2 = 12 * (gyration_radius * gyration_radius - result.radius * result.radius);
    result.length = std::sqrt(std::max(0.0, length2));
    result.first = line.first[range.first];
    result.last = line.last[range.last];
    // A circular section of this Rc has a diameter of 2 sqrt(2) Rc.
    const double q_ratio = std::sqrt(line.x[range.last] / line.x[range.first]);
    result.is_valid = std::abs(range.trend) < kMaxTrend && q_ratio > 1.5 &&
                      result.length > kMinRatio * 2 * std::sqrt(2.0) * result.radius;
    return result;
}

}  // namespace pleat
