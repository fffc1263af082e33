// Product table: Chebyshev nodes of the contrast, and products of profiles at each.
#include "pleat/saxs/fit/product_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/fit/least_squares.h"

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

/// Lagrange weights of the nodes at x, by the barycentric formula of Chebyshev nodes of the first
/// kind (Berrut and Trefethen, SIAM Review 46:501, 2004).
void lagrange_weights(std::span<const double> nodes, double x, std::span<double> weights) {
    const auto count = static_cast<double>(nodes.size());
    double sum = 0;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        if (x == nodes[k]) {
            std::fill(weights.begin(), weights.end(), 0.0);
            weights[k] = 1;
            return;
        }
        const double sine = std::sin(std::numbers::pi * (static_cast<double>(k) + 0.5) / count);
        weights[k] = (k % 2 == 0 ? sine : -sine) / (x - nodes[k]);
        sum += weights[k];
    }
    for (double& weight : weights) weight /= sum;
}

/// Whether the interpolation of `function` from these nodes is accurate to 1e-12 of its maximum.
template <class Function>
bool is_accurate(std::span<const double> nodes, double min, double max, const Function& function) {
    constexpr int kTrials = 41;
    constexpr double kTolerance = 1e-12;
    std::vector<double> weights(nodes.size());
    double largest = 0, error = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
        const double x = min + (max - min) * trial / (kTrials - 1);
        lagrange_weights(nodes, x, weights);
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

}  // namespace

ContrastNodes::ContrastNodes(const FitOptions& options, bool is_atomic, double mean_radius,
                             double largest_q) {
    c1_ = is_atomic ? nodes_of_c1(options.c1_min, options.c1_max, mean_radius, largest_q)
                    : std::vector<double>{1};
    c2_ = options.c2_min == options.c2_max
              ? std::vector<double>{options.c2_min}
              : chebyshev_nodes(options.c2_min, options.c2_max, kC2Nodes);
}

void ContrastNodes::interpolation_weights(const Contrast& contrast,
                                          std::span<double> weights) const {
    std::array<double, kMaxC1Nodes> of_c1{};
    std::array<double, kC2Nodes> of_c2{};
    lagrange_weights(c1_, contrast.c1, {of_c1.data(), c1_.size()});
    lagrange_weights(c2_, contrast.c2, {of_c2.data(), c2_.size()});
    for (std::size_t i = 0; i < c1_.size(); ++i)
        for (std::size_t j = 0; j < c2_.size(); ++j)
            weights[i * c2_.size() + j] = of_c1[i] * of_c2[j];
}

ProductTable::ProductTable(const EnsembleProblem& problem, bool with_pairs, int threads,
                           std::span<const Index> columns)
    : problem_(problem),
      with_pairs_(with_pairs),
      threads_(threads),
      columns_(columns.begin(), columns.end()),
      column_of_(with_pairs ? 0 : static_cast<std::size_t>(problem.partial.extent(0))),
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
    products_.resize((with_pairs ? frames * (frames + 1) / 2 : frames * (columns_.size() + 1)) *
                     nodes_.size());
    for (std::size_t n = 0; n < columns_.size(); ++n)
        column_of_[static_cast<std::size_t>(columns_[n])] = n + 1;
    with_curve_.resize(frames * nodes_.size());
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        factors_.push_back(channel_pair_factors(problem.partial.extent(1), curve.q,
                                                problem.mean_radius, nodes_.node(node)));
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

/// Computes the profile of a frame at a node.
void ProductTable::compute(Index frame, std::size_t node, double* profile) const {
    const std::size_t points = inverse_sigma_.size();
    const Array<double, 2>& factors = factors_[node];
    std::fill_n(profile, points, 0.0);
    for (Index pair = 0; pair < factors.extent(0); ++pair) {
        const double* const factor = factors.view()[pair].data;
        const double* const partial = problem_.partial[frame][pair].data;
        for (std::size_t k = 0; k < points; ++k) profile[k] += factor[k] * partial[k];
    }
    scale(profile);
}

/// Sets the products of all pairs: a thread takes a node.
void ProductTable::add_pairs() {
    const std::size_t points = inverse_sigma_.size();
    Array<double, 3> scratch(threads_, frame_count(), static_cast<Index>(points));
    cancellable_parallel_for(
        problem_.context, threads_, static_cast<Index>(nodes_.size()), [&](Index n, int thread) {
            const auto node = static_cast<std::size_t>(n);
            const View<double, 2> profiles = scratch[thread];
            for (Index a = 0; a < frame_count(); ++a) {
                compute(a, node, profiles[a].data);
                with_curve_[static_cast<std::size_t>(a) * nodes_.size() + node] =
                    dot(profiles[a].data, curve_.data(), points);
                for (Index b = 0; b <= a; ++b)
                    products_[row(a, b) + node] = dot(profiles[a].data, profiles[b].data, points);
            }
        });
}

/// Sets the products of each frame with itself, the curve and the columns: a thread takes a frame.
void ProductTable::add_frames() {
    const std::size_t points = inverse_sigma_.size(), columns = columns_.size();
    Array<double, 3> of_columns(static_cast<Index>(nodes_.size()), static_cast<Index>(columns),
                                static_cast<Index>(points));
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        for (std::size_t n = 0; n < columns; ++n)
            compute(columns_[n], node,
                    &of_columns(static_cast<Index>(node), static_cast<Index>(n), 0));
    Array<double, 2> scratch(threads_, static_cast<Index>(points));
    cancellable_parallel_for(
        problem_.context, threads_, frame_count(), [&](Index frame, int thread) {
            double* const profile = scratch[thread].data;
            const auto at = static_cast<std::size_t>(frame);
            for (std::size_t node = 0; node < nodes_.size(); ++node) {
                compute(frame, node, profile);
                products_[row(frame, frame) + node] = dot(profile, profile, points);
                with_curve_[at * nodes_.size() + node] = dot(profile, curve_.data(), points);
                for (std::size_t n = 0; n < columns; ++n)
                    products_[row_of_column(at, n + 1) + node] = dot(
                        profile, &of_columns(static_cast<Index>(node), static_cast<Index>(n), 0),
                        points);
            }
        });
}

}  // namespace pleat::saxs
