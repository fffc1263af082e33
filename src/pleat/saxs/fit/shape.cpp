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

}  // namespace pleat::saxs
