// Smearing: the nodes of all points in rising order, one spline, weighted sums.
#include "pleat/saxs/fit/smearing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "pleat/saxs/fit/fit.h"

namespace pleat::saxs {

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
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return nodes[a] < nodes[b]; });
    std::vector<double> rising;
    rising.reserve(order.size());
    for (const std::size_t n : order) rising.push_back(nodes[n]);
    const Array<double, 2> at_nodes = resample_profiles(partial, q, rising);
    Array<double, 2> smeared(partial.extent(0), static_cast<Index>(curve.size()));
    for (Index pair = 0; pair < partial.extent(0); ++pair)
        for (std::size_t n = 0; n < order.size(); ++n)
            smeared(pair, static_cast<Index>(order[n] / kNodes)) +=
                kQuadrature.weights[order[n] % kNodes] * at_nodes(pair, static_cast<Index>(n));
    return smeared;
}

}  // namespace pleat::saxs
