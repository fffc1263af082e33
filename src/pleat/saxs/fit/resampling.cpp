// Resampling: second derivatives from a tridiagonal system, and quadrature over the spread of q.
#include "pleat/saxs/fit/resampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

#include "pleat/saxs/fit/fit.h"

namespace pleat::saxs {

namespace {

/// Second derivatives at the points.
std::vector<double> curvatures(std::span<const double> x, std::span<const double> y) {
    const std::size_t n = x.size();
    std::vector<double> diagonal(n, 1), upper(n, 0), right(n, 0), lower(n, 0);
    if (x[0] == 0) {
        const double h = x[1] - x[0];
        diagonal[0] = 2;
        upper[0] = 1;
        right[0] = 6 * (y[1] - y[0]) / (h * h);
    }
    for (std::size_t k = 1; k + 1 < n; ++k) {
        const double before = x[k] - x[k - 1], after = x[k + 1] - x[k];
        lower[k] = before;
        diagonal[k] = 2 * (before + after);
        upper[k] = after;
        right[k] = 6 * ((y[k + 1] - y[k]) / after - (y[k] - y[k - 1]) / before);
    }
    for (std::size_t k = 1; k < n; ++k) {
        const double factor = lower[k] / diagonal[k - 1];
        diagonal[k] -= factor * upper[k - 1];
        right[k] -= factor * right[k - 1];
    }
    right[n - 1] /= diagonal[n - 1];
    for (std::size_t k = n - 1; k-- > 0;)
        right[k] = (right[k] - upper[k] * right[k + 1]) / diagonal[k];
    return right;
}

}  // namespace

std::vector<double> interpolate_spline(std::span<const double> x, std::span<const double> y,
                                       std::span<const double> to) {
    const std::vector<double> second = curvatures(x, y);
    std::vector<double> values;
    values.reserve(to.size());
    std::size_t k = 0;
    for (const double at : to) {
        while (k + 2 < x.size() && at > x[k + 1]) ++k;
        const double h = x[k + 1] - x[k], a = (x[k + 1] - at) / h, b = (at - x[k]) / h;
        values.push_back(a * y[k] + b * y[k + 1] +
                         ((a * a * a - a) * second[k] + (b * b * b - b) * second[k + 1]) * h * h /
                             6);
    }
    return values;
}

namespace {

constexpr std::size_t kNodes = 24;

/// Nodes in units of dq, and weights of sum 1, of means over the Gaussian.
struct Quadrature {
    std::array<double, kNodes> nodes{}, weights{};

    Quadrature() {
        double sum = 0;
        for (std::size_t n = 0; n < kNodes; ++n) {
            // Root of the Legendre polynomial by Newton's method.
            double x = std::cos(std::numbers::pi * (static_cast<double>(n) + 0.75) /
                                (static_cast<double>(kNodes) + 0.5));
            double slope = 1;
            for (int step = 0; step < 20; ++step) {
                double before = 1, value = x;
                for (std::size_t degree = 2; degree <= kNodes; ++degree) {
                    const auto d = static_cast<double>(degree);
                    const double next = ((2 * d - 1) * x * value - (d - 1) * before) / d;
                    before = value;
                    value = next;
                }
                slope = static_cast<double>(kNodes) * (x * value - before) / (x * x - 1);
                x -= value / slope;
            }
            nodes[n] = kSmearingReach * x;
            weights[n] = std::exp(-nodes[n] * nodes[n] / 2) / ((1 - x * x) * slope * slope);
            sum += weights[n];
        }
        for (double& weight : weights) weight /= sum;
    }
};

}  // namespace

Array<double, 2> profiles_at_curve(View<const double, 2> partial, std::span<const double> q,
                                   const Profile& curve) {
    if (curve.dq.empty()) return resample_profiles(partial, q, curve.q);
    static const Quadrature kQuadrature;
    std::vector<double> nodes;
    for (std::size_t k = 0; k < curve.size(); ++k)
        for (const double node : kQuadrature.nodes)
            nodes.push_back(std::abs(curve.q[k] + node * curve.dq[k]));
    std::vector<std::size_t> order(nodes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return nodes[a] < nodes[b]; });
    std::vector<double> rising;
    rising.reserve(order.size());
    for (const std::size_t n : order) rising.push_back(nodes[n]);
    const Array<double, 2> at_nodes = resample_profiles(partial, q, rising);
    Array<double, 2> smeared(partial.extent(0), std::ssize(curve));
    for (Index pair = 0; pair < partial.extent(0); ++pair)
        for (std::size_t n = 0; n < order.size(); ++n)
            smeared(pair, static_cast<Index>(order[n] / kNodes)) +=
                kQuadrature.weights[order[n] % kNodes] * at_nodes(pair, static_cast<Index>(n));
    return smeared;
}

std::vector<double> barycentric_factors(std::size_t count) {
    std::vector<double> factors;
    for (std::size_t k = 0; k < count; ++k) {
        const double sine = std::sin(std::numbers::pi * (static_cast<double>(k) + 0.5) /
                                     static_cast<double>(count));
        factors.push_back(k % 2 == 0 ? sine : -sine);
    }
    return factors;
}

void lagrange_weights(std::span<const double> nodes, std::span<const double> factors, double x,
                      std::span<double> weights) {
    double sum = 0;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        if (x == nodes[k]) {
            std::ranges::fill(weights, 0.0);
            weights[k] = 1;
            return;
        }
        weights[k] = factors[k] / (x - nodes[k]);
        sum += weights[k];
    }
    for (double& weight : weights) weight /= sum;
}

}  // namespace pleat::saxs
