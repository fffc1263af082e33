// Multipole table: Miller's recurrence, degrees by their squares, Lagrange's weights.
#include "pleat/saxs/kernel/multipole_table.h"

#include <algorithm>
#include <cmath>

namespace pleat::saxs {

namespace {

constexpr double kPi = 3.14159265358979323846;

/// Degrees past which (2 l + 1) j_l(x)^2 vanishes in float64.
Index far_degree(double x) { return static_cast<Index>(x + 16.0 * std::cbrt(x + 1.0)) + 24; }

/// Degrees that leave at most kMultipoleError.
Index degrees_for(double x) {
    const Index largest = far_degree(x);
    constexpr double kVast = 1e4;  // too many harmonics for any memory: a bound suffices
    if (x > kVast) return largest;
    std::vector<double> values(static_cast<std::size_t>(largest));
    spherical_bessel(x, largest, values.data());
    double left = 0.0;
    for (Index l = largest - 1; l >= 0; --l) {
        const double value = values[static_cast<std::size_t>(l)];
        left += static_cast<double>(2 * l + 1) * value * value;
        if (left > kMultipoleError) return l + 1;
    }
    return 1;
}

/// Nodes that interpolate waves up to q on [0, R]: Chebyshev coefficients of exp(i q r) are Bessel
/// functions of z = q R / 2, which fall off past their order z as those of spheres do.
Index nodes_for(double z) { return static_cast<Index>(z + 5.5 * std::cbrt(z + 1.0)) + 10; }

}  // namespace

void spherical_bessel(double x, Index count, double* values) {
    if (x < 1e-8) {
        std::fill_n(values, count, 0.0);
        values[0] = 1.0;
        if (count > 1) values[1] = x / 3.0;
        return;
    }
    const Index start = std::max(count, far_degree(x)) + 16;
    double above = 0.0, here = 1e-100, sum = 0.0;
    constexpr double kHuge = 1e100;
    for (Index l = start; l >= 0; --l) {
        // `here` is j_l times an unknown factor, which follows from sum_l (2 l + 1) j_l^2 = 1 at
        // the end.
        if (l < count) values[l] = here;
        sum += static_cast<double>(2 * l + 1) * here * here;
        const double below = static_cast<double>(2 * l + 1) / x * here - above;
        above = here;
        here = below;
        if (sum > 1e200) {
            above /= kHuge;
            here /= kHuge;
            sum /= kHuge * kHuge;
            for (Index n = l; n < count; ++n) values[n] /= kHuge;
        }
    }
    // The sign: by j_0 or j_1, whichever is not near a zero.
    const double j0 = std::sin(x) / x, j1 = (j0 - std::cos(x)) / x;
    double scale = 1.0 / std::sqrt(sum);
    // After the last step `above` is j_0 but for the factor; j_1 follows from j_{-1} = cos(x) / x.
    const double v0 = above;
    const double v1 = count > 1 ? values[1] : v0 / x - here;
    if (std::fabs(j0) > std::fabs(j1) ? (j0 < 0) != (v0 < 0) : (j1 < 0) != (v1 < 0)) scale = -scale;
    for (Index l = 0; l < count; ++l) values[l] *= scale;
}

MultipoleSize multipole_size(double wave, double radius) {
    return {degrees_for(wave * radius), nodes_for(0.5 * wave * radius)};
}

double rounded_radius(double radius) {
    constexpr double kStep = 1.04;
    return std::pow(kStep, std::ceil(std::log(std::max(radius, 1.0)) / std::log(kStep)));
}

FrameSphere enclosing_sphere(View<const float, 2> xyz) {
    FrameSphere sphere;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const View<const float, 1> all = xyz[static_cast<Index>(axis)];
        float smallest = all(0), largest = all(0);
        for (const float x : all) {
            smallest = std::min(smallest, x);
            largest = std::max(largest, x);
        }
        sphere.centre[axis] = 0.5 * (double{smallest} + double{largest});
    }
    double square = 0.0;
    for (Index n = 0; n < xyz.extent(1); ++n) {
        const double x = double{xyz(0, n)} - sphere.centre[0],
                     y = double{xyz(1, n)} - sphere.centre[1],
                     z = double{xyz(2, n)} - sphere.centre[2];
        square = std::max(square, x * x + y * y + z * z);
    }
    // No rounding may leave a scatterer outside.
    sphere.radius = std::sqrt(square) * (1.0 + 1e-12);
    return sphere;
}

MultipoleTable::MultipoleTable(std::span<const double> q, double within)
    : radius(within),
      q_count(static_cast<Index>(q.size())),
      q_stride((q_count + kQPad - 1) / kQPad * kQPad) {
    const MultipoleSize size = multipole_size(q.back(), radius);
    for (Index n = 0; n < size.nodes; ++n) {
        const double angle = kPi * (static_cast<double>(n) + 0.5) / static_cast<double>(size.nodes);
        nodes.push_back(0.5 * radius * (1.0 - std::cos(angle)));
        barycentric.push_back(n % 2 == 0 ? std::sin(angle) : -std::sin(angle));
    }
    bessel = Array<double, 3>(size.degrees, size.nodes, q_stride);
    first_q.assign(static_cast<std::size_t>(size.degrees), 0);
    std::vector<double> values(static_cast<std::size_t>(size.degrees));
    for (Index k = 0; k < q_count; ++k) {
        const double wave = q[static_cast<std::size_t>(k)];
        const Index degrees = std::min(degrees_for(wave * radius), size.degrees);
        for (Index l = degrees; l < size.degrees; ++l)
            first_q[static_cast<std::size_t>(l)] = (k + 1) / kQPad * kQPad;
        for (Index n = 0; n < size.nodes; ++n) {
            spherical_bessel(wave * nodes[static_cast<std::size_t>(n)], degrees, values.data());
            for (Index l = 0; l < degrees; ++l)
                bessel(l, n, k) = values[static_cast<std::size_t>(l)];
        }
    }
}

void MultipoleTable::interpolate(double r, double* weights) const {
    const Index count = node_count();
    double sum = 0.0;
    for (Index n = 0; n < count; ++n) {
        const double distance = r - nodes[static_cast<std::size_t>(n)];
        if (distance == 0.0) {
            std::fill_n(weights, count, 0.0);
            weights[n] = 1.0;
            return;
        }
        weights[n] = barycentric[static_cast<std::size_t>(n)] / distance;
        sum += weights[n];
    }
    for (Index n = 0; n < count; ++n) weights[n] /= sum;
}

}  // namespace pleat::saxs
