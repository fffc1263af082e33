// Shape: moments in one pass, the diameter by trial of far scatterers, Guinier's line by trial.
#include "pleat/saxs/fit/shape.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/fit/pair_distances.h"

namespace pleat::saxs {

namespace {

/// Centre and gyration of amplitudes; unweighted if the amplitudes sum to 0.
void measure_moments(View<const float, 2> positions, std::span<const double> amplitudes,
                     Shape& shape) {
    const Index count = positions.extent(1);
    double sum = 0, size = 0;
    for (const double a : amplitudes) {
        sum += a;
        size += std::abs(a);
    }
    shape.forward_intensity = sum * sum;
    const bool is_weighted = std::abs(sum) > 1e-6 * size;
    double total = 0, first[3] = {}, second = 0, size_of_squares = 0;
    // Relative to the first scatterer, so that structures far from the origin lose no digits.
    for (Index i = 0; i < count; ++i) {
        const double a = is_weighted ? amplitudes[static_cast<std::size_t>(i)] : 1;
        total += a;
        for (Index axis = 0; axis < 3; ++axis) {
            const double x =
                static_cast<double>(positions(axis, i)) - static_cast<double>(positions(axis, 0));
            first[axis] += a * x;
            second += a * x * x;
            size_of_squares += std::abs(a) * x * x;
        }
    }
    for (const double f : first) second -= f * f / total;
    // The rounding error of coincident scatterers counts as 0.
    shape.gyration_radius2 = second / total;
    if (std::abs(second) <= 1e-12 * size_of_squares) shape.gyration_radius2 = 0;
    shape.gyration_radius = shape.gyration_radius2 >= 0 ? std::sqrt(shape.gyration_radius2) : NAN;
}

/// The largest squared distance of the first `count` positions. Starts with those that are farthest
/// from the centre of their box, and ends where two cannot be farther apart than what was found.
double largest_distance2(View<const float, 2> positions, Index count) {
    double centre[3];
    for (Index axis = 0; axis < 3; ++axis) {
        const float* const x = positions[axis].data;
        const auto [min, max] = std::minmax_element(x, x + count);
        centre[axis] = (static_cast<double>(*min) + static_cast<double>(*max)) / 2;
    }
    std::vector<std::pair<double, Index>> order;  // by the distance from the centre
    for (Index i = 0; i < count; ++i) {
        double square = 0;
        for (Index axis = 0; axis < 3; ++axis)
            square += std::pow(static_cast<double>(positions(axis, i)) - centre[axis], 2);
        order.emplace_back(std::sqrt(square), i);
    }
    std::sort(order.begin(), order.end(), std::greater<>());
    const float *const x = positions[0].data, *const y = positions[1].data,
                       *const z = positions[2].data;
    float largest2 = 0;
    for (std::size_t a = 0; a < order.size(); ++a) {
        // 1.00001: for rounding errors of float32.
        const double found = std::sqrt(static_cast<double>(largest2));
        const double from_centre = order[a].first;
        if (1.00001 * (from_centre + order.front().first) < found) break;
        const Index i = order[a].second;
        for (std::size_t b = 0; b < a && 1.00001 * (from_centre + order[b].first) >= found; ++b) {
            const Index j = order[b].second;
            const float dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
            largest2 = std::max(largest2, dx * dx + dy * dy + dz * dz);
        }
    }
    return static_cast<double>(largest2);
}

/// Scatterers whose amplitude is not 0.
struct Visible {
    Array<float, 2> xyz;
    std::vector<double> amplitudes;

    Visible(View<const float, 2> positions, std::span<const double> all) {
        std::vector<Index> visible;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i] == 0) continue;
            visible.push_back(static_cast<Index>(i));
            amplitudes.push_back(all[i]);
        }
        xyz = Array<float, 2>::unset(3, static_cast<Index>(visible.size()));
        for (Index axis = 0; axis < 3; ++axis)
            for (Index n = 0; n < xyz.extent(1); ++n)
                xyz(axis, n) = positions(axis, visible[static_cast<std::size_t>(n)]);
    }
};

/// The weighted line of ln I against q^2 through points that are added one by one.
class Line {
public:
    double intercept = 0, slope = 0, intercept_error = 0, slope_error = 0;

    /// Adds a point with a positive intensity.
    void add(double q, double intensity, double sigma) {
        const double x = q * q, y = std::log(intensity);
        const double error = sigma / intensity, w = 1 / (error * error);
        s_ += w;
        sx_ += w * x;
        sy_ += w * y;
        sxx_ += w * x * x;
        sxy_ += w * x * y;
    }
    /// False if the points do not determine a line.
    bool solve() {
        const double determinant = s_ * sxx_ - sx_ * sx_;
        if (!(determinant > 0)) return false;
        intercept = (sxx_ * sy_ - sx_ * sxy_) / determinant;
        slope = (s_ * sxy_ - sx_ * sy_) / determinant;
        intercept_error = std::sqrt(sxx_ / determinant);
        slope_error = std::sqrt(s_ / determinant);
        return true;
    }

private:
    double s_ = 0, sx_ = 0, sy_ = 0, sxx_ = 0, sxy_ = 0;
};

}  // namespace

Shape measure_shape(View<const float, 2> positions, std::span<const double> amplitudes, Index solid,
                    double bin_width, const Context& context) {
    Shape shape;
    measure_moments(positions, amplitudes, shape);
    throw_if_stopped(context);
    // The diameter excludes hydration sites.
    shape.diameter = std::sqrt(largest_distance2(positions, solid));
    if (bin_width == 0) return shape;
    const Visible visible(positions, amplitudes);
    const Index count = visible.xyz.extent(1);
    const double longest = count > 0 ? std::sqrt(largest_distance2(visible.xyz, count)) : 0;
    shape.pairs = pair_distances(visible.xyz, visible.amplitudes, longest, bin_width, context);
    while (shape.pairs.size() > 1 && shape.pairs.back() == 0) shape.pairs.pop_back();
    for (const double a : amplitudes) shape.pairs[0] += a * a;
    return shape;
}

Guinier guinier(const Profile& curve) {
    constexpr std::size_t kMinPoints = 5;
    constexpr double kMaxProduct = 1.3;
    Guinier best;
    std::size_t first = 0;
    while (first < curve.size() && (curve.intensity[first] <= 0 || curve.q[first] == 0)) ++first;
    Line line;
    for (std::size_t last = first; last < curve.size() && curve.intensity[last] > 0; ++last) {
        line.add(curve.q[last], curve.intensity[last], curve.sigma[last]);
        if (last + 1 < first + kMinPoints) continue;
        if (!line.solve()) break;
        if (line.slope >= 0) continue;
        const double gyration_radius = std::sqrt(-3 * line.slope);
        if (curve.q[last] * gyration_radius > kMaxProduct) continue;
        best.is_valid = true;
        best.gyration_radius = gyration_radius;
        best.gyration_radius_error = 1.5 * line.slope_error / gyration_radius;
        best.forward_intensity = std::exp(line.intercept);
        best.forward_intensity_error = best.forward_intensity * line.intercept_error;
        best.first = first;
        best.last = last;
    }
    return best;
}

}  // namespace pleat::saxs
