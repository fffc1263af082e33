// Product table: Chebyshev nodes of the contrast, and products of profiles at each.
#include "pleat/saxs/fit/product_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/fit/least_squares.h"
#include "pleat/saxs/model/form_factors.h"

namespace pleat::saxs {

namespace {

/// Chebyshev nodes of an interval; its middle if there is one node.
std::vector<double> chebyshev_nodes(double min, double max, std::size_t count) {
    std::vector<double> nodes;
    for (std::size_t k = 0; k < count; ++k) {
        const double x = std::cos(std::numbers::pi * (static_cast<double>(k) + 0.5) /
                                  static_cast<double>(count));
        nodes.push_back((min + max) / 2 + x * (max - min) / 2);
    }
    return nodes;
}

/// The factors of the nodes in the barycentric formula of Chebyshev nodes of the first kind (Berrut
/// and Trefethen, SIAM Review 46:501, 2004).
std::vector<double> barycentric_factors(std::size_t count) {
    std::vector<double> factors;
    for (std::size_t k = 0; k < count; ++k) {
        const double sine = std::sin(std::numbers::pi * (static_cast<double>(k) + 0.5) /
                                     static_cast<double>(count));
        factors.push_back(k % 2 == 0 ? sine : -sine);
    }
    return factors;
}

/// Lagrange weights of the nodes at x. `factors`: barycentric_factors().
void lagrange_weights(std::span<const double> nodes, std::span<const double> factors, double x,
                      std::span<double> weights) {
    double sum = 0;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        if (x == nodes[k]) {
            std::fill(weights.begin(), weights.end(), 0.0);
            weights[k] = 1;
            return;
        }
        weights[k] = factors[k] / (x - nodes[k]);
        sum += weights[k];
    }
    for (double& weight : weights) weight /= sum;
}

/// Whether the interpolation of `function` from these nodes is accurate to 1e-12 of its maximum.
template <class Function>
bool is_accurate(std::span<const double> nodes, double min, double max, const Function& function) {
    constexpr int kTrials = 41;
    constexpr double kTolerance = 1e-12;
    const std::vector<double> factors = barycentric_factors(nodes.size());
    std::vector<double> weights(nodes.size());
    double largest = 0, error = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
        const double x = min + (max - min) * trial / (kTrials - 1);
        lagrange_weights(nodes, factors, x, weights);
        double interpolated = 0;
        for (std::size_t k = 0; k < nodes.size(); ++k)
            interpolated += weights[k] * function(nodes[k]);
        largest = std::max(largest, std::abs(function(x)));
        error = std::max(error, std::abs(interpolated - function(x)));
    }
    return error <= kTolerance * largest;
}

std::vector<double> nodes_of_c1(double min, double max, double mean_radius, double largest_q) {
    if (min == max) return {min};
    for (std::size_t count = 4;; ++count) {
        std::vector<double> nodes = chebyshev_nodes(min, max, count);
        const auto fourth_power = [&](double q) {
            return [=](double c1) { return std::pow(volume_factor(c1, mean_radius, q), 4); };
        };
        if (count == kMaxC1Nodes || (is_accurate(nodes, min, max, fourth_power(0)) &&
                                     is_accurate(nodes, min, max, fourth_power(largest_q))))
            return nodes;
    }
}

/// The sum of factors[n] x^n.
double polynomial(std::span<const double> factors, double x) {
    double sum = 0;
    for (std::size_t n = factors.size(); n-- > 0;) sum = sum * x + factors[n];
    return sum;
}

}  // namespace

ContrastNodes::ContrastNodes(const FitOptions& options, bool is_atomic, double mean_radius,
                             double largest_q) {
    c1_ = is_atomic ? nodes_of_c1(options.c1_min, options.c1_max, mean_radius, largest_q)
                    : std::vector<double>{1};
    c2_ = options.c2_min == options.c2_max
              ? std::vector<double>{options.c2_min}
              : chebyshev_nodes(options.c2_min, options.c2_max, kC2Nodes);
    c1_factors_ = barycentric_factors(c1_.size());
    c2_factors_ = barycentric_factors(c2_.size());
}

void ContrastNodes::interpolation_weights(const Contrast& contrast,
                                          std::span<double> weights) const {
    std::array<double, kMaxC1Nodes> of_c1{};
    std::array<double, kC2Nodes> of_c2{};
    lagrange_weights(c1_, c1_factors_, contrast.c1, {of_c1.data(), c1_.size()});
    lagrange_weights(c2_, c2_factors_, contrast.c2, {of_c2.data(), c2_.size()});
    for (std::size_t i = 0; i < c1_.size(); ++i)
        for (std::size_t j = 0; j < c2_.size(); ++j)
            weights[i * c2_.size() + j] = of_c1[i] * of_c2[j];
}

ProductTable::ProductTable(const EnsembleProblem& problem, bool with_pairs, int threads)
    : problem_(problem),
      with_pairs_(with_pairs),
      threads_(threads),
      nodes_(problem.options, are_atomic(problem.partial[0]), problem.mean_radius,
             problem.curve->q.back()) {
    const Profile& curve = *problem.curve;
    for (std::size_t k = 0; k < curve.size(); ++k) {
        inverse_sigma_.push_back(1 / curve.sigma[k]);
        inverse_variance_sum_ += inverse_sigma_[k] * inverse_sigma_[k];
    }
    curve_ = curve.intensity;
    scale(curve_.data());
    curve_square_ = dot(curve_.data(), curve_.data(), curve_.size());
    const auto frames = static_cast<std::size_t>(frame_count());
    products_.resize((with_pairs ? frames * (frames + 1) / 2 : frames) * nodes_.size());
    with_curve_.resize(frames * nodes_.size());
    for (std::size_t n = 0; n < nodes_.c1_count(); ++n)
        factors_.push_back(channel_pair_factors(problem.partial.extent(1), curve.q,
                                                problem.mean_radius, {nodes_.node(n, 0).c1, 1}));
    if (with_pairs)
        add_pairs();
    else
        add_frames();
    factors_.clear();
}

/// Divides by sigma; with a background, also subtracts the constant component.
void ProductTable::scale(double* profile) const {
    const std::size_t points = inverse_sigma_.size();
    for (std::size_t k = 0; k < points; ++k) profile[k] *= inverse_sigma_[k];
    if (!problem_.options.background) return;
    const double constant = dot(profile, inverse_sigma_.data(), points) / inverse_variance_sum_;
    for (std::size_t k = 0; k < points; ++k) profile[k] -= constant * inverse_sigma_[k];
}

/// Computes the parts of a frame's profile at a c1: those that are multiplied by each power of c2.
void ProductTable::compute_parts(Index frame, std::size_t c1, View<double, 2> parts) const {
    const std::size_t points = inverse_sigma_.size();
    const Array<double, 2>& factors = factors_[c1];
    const Index channels = factors.extent(0) == 1 ? 1 : factors.extent(0) == 3 ? 2 : 3;
    std::fill_n(parts.data, kParts * parts.extent(1), 0.0);
    for (Index a = 0; a < channels; ++a)
        for (Index b = a; b < channels; ++b) {
            // The last of several channels is the hydration layer.
            const Index power = channels == 1 ? 0 : (a == channels - 1) + (b == channels - 1);
            const Index pair = channel_pair(a, b, channels);
            const double* const factor = factors.view()[pair].data;
            const double* const partial = problem_.partial[frame][pair].data;
            double* const part = parts[power].data;
            for (std::size_t k = 0; k < points; ++k) part[k] += factor[k] * partial[k];
        }
    for (Index power = 0; power < kParts; ++power) scale(parts[power].data);
}

/// Sets the products of all pairs: a thread takes a c1.
void ProductTable::add_pairs() {
    const std::size_t points = inverse_sigma_.size();
    const auto width = static_cast<Index>(points);
    const auto c1_count = static_cast<Index>(nodes_.c1_count());
    const auto threads = static_cast<int>(std::min<Index>(threads_, c1_count));
    Array<double, 4> scratch(threads, frame_count(), kParts + 1, width);
    cancellable_parallel_for(problem_.context, threads, c1_count, [&](Index c1, int thread) {
        const View<double, 3> rows = scratch[thread];
        const auto profile = [&](Index frame) { return rows[frame][kParts].data; };
        for (Index frame = 0; frame < frame_count(); ++frame)
            compute_parts(frame, static_cast<std::size_t>(c1), rows[frame]);
        for (std::size_t n = 0; n < nodes_.c2_count(); ++n) {
            const std::size_t node = static_cast<std::size_t>(c1) * nodes_.c2_count() + n;
            const double c2 = nodes_.node(static_cast<std::size_t>(c1), n).c2;
            for (Index a = 0; a < frame_count(); ++a) {
                const View<double, 2> parts = rows[a];
                double* const to = profile(a);
                for (std::size_t k = 0; k < points; ++k)
                    to[k] = parts[0].data[k] + c2 * (parts[1].data[k] + c2 * parts[2].data[k]);
                with_curve_[static_cast<std::size_t>(a) * nodes_.size() + node] =
                    dot(to, curve_.data(), points);
                for (Index b = 0; b <= a; ++b)
                    products_[row(a, b) + node] = dot(to, profile(b), points);
            }
        }
    });
}

/// Sets the products of each frame with itself and with the curve: a thread takes some frames.
void ProductTable::add_frames() {
    constexpr Index kFramesOfLoop = 8;
    const std::size_t points = inverse_sigma_.size(), size = nodes_.size();
    Array<double, 3> scratch(threads_, kParts, static_cast<Index>(points));
    const auto add = [&](Index frame, const View<double, 2>& parts) {
        const auto at = static_cast<std::size_t>(frame);
        for (std::size_t c1 = 0; c1 < nodes_.c1_count(); ++c1) {
            compute_parts(frame, c1, parts);
            const double *const a = parts[0].data, *const b = parts[1].data,
                                *const c = parts[2].data, *const y = curve_.data();
            // By powers of c2.
            const std::array<double, 5> squares = {dot(a, a, points), 2 * dot(a, b, points),
                                                   dot(b, b, points) + 2 * dot(a, c, points),
                                                   2 * dot(b, c, points), dot(c, c, points)};
            const std::array<double, 3> right = {dot(a, y, points), dot(b, y, points),
                                                 dot(c, y, points)};
            for (std::size_t n = 0; n < nodes_.c2_count(); ++n) {
                const double c2 = nodes_.node(c1, n).c2;
                const std::size_t node = c1 * nodes_.c2_count() + n;
                products_[row(frame, frame) + node] = polynomial(squares, c2);
                with_curve_[at * size + node] = polynomial(right, c2);
            }
        }
    };
    cancellable_parallel_for(
        problem_.context, threads_, (frame_count() + kFramesOfLoop - 1) / kFramesOfLoop,
        [&](Index block, int thread) {
            const Index last = std::min(frame_count(), (block + 1) * kFramesOfLoop);
            for (Index frame = block * kFramesOfLoop; frame < last; ++frame)
                add(frame, scratch[thread]);
        });
}

}  // namespace pleat::saxs
