// Set fit: products at Chebyshev nodes of the contrast, non-negative least squares, Newton steps.
#include "pleat/saxs/fit/set_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/fit/least_squares.h"
#include "pleat/saxs/fit/resampling.h"

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
      has_frame_pairs_(with_pairs),
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
    products_with_curve_.resize(frames * nodes_.size());
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

/// Computes the coefficients of each power of c2 in a frame's profile at a c1.
void ProductTable::compute_parts(Index frame, std::size_t c1, View<double, 2> parts) const {
    const std::size_t points = inverse_sigma_.size();
    const Array<double, 2>& factors = factors_[c1];
    const Index channels = factors.extent(0) == 1 ? 1 : factors.extent(0) == 3 ? 2 : 3;
    std::fill_n(parts.data, kParts * parts.extent(1), 0.0);
    for (Index a = 0; a < channels; ++a)
        for (Index b = a; b < channels; ++b) {
            // If there are several channels, the last one is the hydration layer.
            const Index power = channels == 1 ? 0 : (a == channels - 1) + (b == channels - 1);
            const Index pair = channel_pair(a, b, channels);
            const double* const factor = factors[pair].data;
            const double* const partial = problem_.partial[frame][pair].data;
            double* const part = parts[power].data;
            for (std::size_t k = 0; k < points; ++k) part[k] += factor[k] * partial[k];
        }
    for (Index power = 0; power < kParts; ++power) scale(parts[power].data);
}

/// Sets the products of all pairs; one c1 per thread.
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
                products_with_curve_[a * nodes_.size() + node] = dot(to, curve_.data(), points);
                for (Index b = 0; b <= a; ++b)
                    products_[row(a, b) + node] = dot(to, profile(b), points);
            }
        }
    });
}

/// Sets the products of each frame with itself and with the curve; some frames per thread.
void ProductTable::add_frames() {
    constexpr Index kFramesOfLoop = 8;
    const std::size_t points = inverse_sigma_.size(), size = nodes_.size();
    Array<double, 3> scratch(threads_, kParts, static_cast<Index>(points));
    const auto add = [&](Index frame, const View<double, 2>& parts) {
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
                products_with_curve_[frame * size + node] = polynomial(right, c2);
            }
        }
    };
    cancellable_parallel_blocks(problem_.context, threads_, frame_count(), kFramesOfLoop,
                                [&](Index first, Index last, int thread) {
                                    for (Index frame = first; frame < last; ++frame)
                                        add(frame, scratch[thread]);
                                });
}

namespace {

constexpr std::size_t kFewMembers = 8;

/// The normal equations of a set of frames at one contrast.
struct Equations {
    std::size_t count;
    std::vector<double> products, right;

    explicit Equations(std::size_t members)
        : count(members), products(members * members), right(members) {}
};

/// Unconstrained amounts of the members in a bit set, and the decrease of chi^2.
struct Solution {
    double gain = 0;
    std::array<double, kFewMembers> amounts{};
    bool is_solved = false, is_positive = false;
};

/// Solves the equations of the members whose bits are set, by Cholesky. At most kFewMembers.
Solution solve_some(const Equations& equations, unsigned bits) {
    const std::size_t n = equations.count;
    const std::vector<double>& matrix = equations.products;
    std::array<std::size_t, kFewMembers> chosen;
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i)
        if ((bits >> i & 1U) != 0) chosen[count++] = i;
    std::array<double, kFewMembers * kFewMembers> root;
    std::array<double, kFewMembers> x;
    Solution result;
    const auto of = [&](std::size_t i, std::size_t j) { return matrix[chosen[i] * n + chosen[j]]; };
    if (!cholesky_root(count, n, of, root.data())) return result;
    for (std::size_t i = 0; i < count; ++i) x[i] = equations.right[chosen[i]];
    solve_lower(count, n, root.data(), x.data());
    for (std::size_t i = 0; i < count; ++i) result.gain += x[i] * x[i];
    solve_upper(count, n, root.data(), x.data());
    result.is_solved = result.is_positive = true;
    for (std::size_t i = count; i-- > 0;) {
        result.amounts[chosen[i]] = x[i];
        result.is_positive = result.is_positive && x[i] > 0;
    }
    return result;
}

/// Whether nonnegative amounts are optimal: raising a zero amount does not decrease chi^2.
bool is_optimal(const Equations& equations, const Solution& solution) {
    const std::size_t n = equations.count;
    for (std::size_t i = 0; i < n; ++i) {
        if (solution.amounts[i] > 0) continue;
        double fall = equations.right[i];
        for (std::size_t k = 0; k < n; ++k)
            fall -= equations.products[i * n + k] * solution.amounts[k];
        if (fall > 1e-12 * std::abs(equations.right[i])) return false;
    }
    return true;
}

double gain_of(const Equations& equations, const std::vector<double>& amounts) {
    // At the optimum the quadratic term is half of the linear one.
    double gain = 0;
    for (std::size_t i = 0; i < amounts.size(); ++i) gain += amounts[i] * equations.right[i];
    return gain;
}

/// The maximum decrease of chi^2 by nonnegative amounts; or, if it cannot exceed `enough`, an upper
/// bound of it. `bits`: members with positive amounts in the last call, which are tried first.
double best_gain(const Equations& equations, unsigned& bits, double enough = -INFINITY) {
    const std::size_t n = equations.count;
    if (n <= kFewMembers) {
        const unsigned all = (1U << n) - 1;
        const Solution free = solve_some(equations, all);
        if (free.is_positive) bits = all;
        if (free.is_positive || (free.is_solved && free.gain <= enough)) return free.gain;
        const Solution last = solve_some(equations, bits);
        if (last.is_positive && is_optimal(equations, last)) return last.gain;
        for (unsigned some = 1; n <= 4 && some < all; ++some) {
            const Solution tried = solve_some(equations, some);
            if (!tried.is_positive || !is_optimal(equations, tried)) continue;
            bits = some;
            return tried.gain;
        }
    }
    const std::vector<double> amounts = solve_nonnegative(equations.products, equations.right);
    bits = 0;
    for (std::size_t i = 0; i < std::min(n, kFewMembers); ++i)
        bits |= amounts[i] > 0 ? 1U << i : 0U;
    return gain_of(equations, amounts);
}

double contract(const double* values, const std::vector<double>& weights) {
    std::array<double, 4> sums{};
    std::size_t n = 0;
    for (; n + sums.size() <= weights.size(); n += sums.size())
        for (std::size_t lane = 0; lane < sums.size(); ++lane)
            sums[lane] += values[n + lane] * weights[n + lane];
    double sum = 0;
    for (; n < weights.size(); ++n) sum += values[n] * weights[n];
    return sum + ((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

/// Computes chi^2 of one set of frames at a given contrast.
class SetAtContrast {
public:
    SetAtContrast(const ProductTable& table, const Members& members)
        : table_(table),
          members_(members),
          weights_(table.nodes().size()),
          equations_(members.size()) {
        for (std::size_t a = 0; a < members.size(); ++a)
            for (std::size_t b = 0; b <= a; ++b)
                products_.push_back(table.products(members[a], members[b]));
    }
    double chi2(const Contrast& contrast) {
        set_equations(contrast);
        return table_.curve_square() - best_gain(equations_, bits_);
    }
    FittedSet fitted(const Contrast& contrast) {
        set_equations(contrast);
        FittedSet result{members_, contrast,
                         solve_nonnegative(equations_.products, equations_.right), 0};
        result.chi2 = table_.curve_square() - gain_of(equations_, result.weights);
        const double sum = std::accumulate(result.weights.begin(), result.weights.end(), 0.0);
        for (double& weight : result.weights)
            weight = sum > 0 ? weight / sum : 1.0 / static_cast<double>(members_.size());
        return result;
    }

private:
    void set_equations(const Contrast& contrast) {
        table_.nodes().interpolation_weights(contrast, weights_);
        const std::size_t n = members_.size();
        std::size_t at = 0;
        for (std::size_t a = 0; a < n; ++a) {
            equations_.right[a] = contract(table_.products_with_curve(members_[a]), weights_);
            for (std::size_t b = 0; b <= a; ++b)
                equations_.products[a * n + b] = equations_.products[b * n + a] =
                    contract(products_[at++], weights_);
        }
    }

    const ProductTable& table_;
    const Members& members_;
    std::vector<double> weights_;
    std::vector<const double*> products_;
    Equations equations_;
    unsigned bits_ = 1;
};

/// Values from `min` to `max` in steps of at most `step`.
std::vector<double> grid_values(double min, double max, double step) {
    const int count =
        max == min ? 1
                   : std::min(kMaxGridValues, static_cast<int>(std::ceil((max - min) / step)) + 1);
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(count));
    for (int n = 0; n < count; ++n)
        values.push_back(count == 1 ? min : min + (max - min) * n / (count - 1));
    return values;
}

/// Products of the frames of all sets at the contrasts of a grid.
class GridProducts {
public:
    GridProducts(const ProductTable& table, const std::vector<Members>& sets, int threads)
        : table_(table), index_(table.frame_count(), -1) {
        const FitOptions& options = table.problem().options;
        const bool is_atomic = are_atomic(table.problem().partial[0]);
        const bool is_coarse = !sets.empty() && sets.front().size() > 2;
        for (const double c1 :
             is_atomic ? grid_values(options.c1_min, options.c1_max, is_coarse ? 0.025 : 0.01)
                       : std::vector<double>{1})
            for (const double c2 : grid_values(options.c2_min, options.c2_max, is_coarse ? 1 : 0.5))
                contrasts_.push_back({c1, c2});
        std::vector<std::vector<double>> weights(contrasts_.size(),
                                                 std::vector<double>(table.nodes().size()));
        for (std::size_t n = 0; n < contrasts_.size(); ++n)
            table.nodes().interpolation_weights(contrasts_[n], weights[n]);
        for (const Members& members : sets)
            for (const Index frame : members) {
                Index& index = index_[frame];
                if (index >= 0) continue;
                index = std::ssize(frames_);
                frames_.push_back(frame);
            }
        const std::size_t size = contrasts_.size(), frames = frames_.size();
        const bool with_pairs = !sets.empty() && sets.front().size() > 1;
        right_.resize(frames * size);
        products_.resize((with_pairs ? frames * (frames + 1) / 2 : frames) * size);
        cancellable_parallel_for(
            table.problem().context, threads, static_cast<Index>(frames), [&](Index index, int) {
                const auto a = static_cast<std::size_t>(index);
                for (std::size_t n = 0; n < size; ++n)
                    right_[a * size + n] =
                        contract(table.products_with_curve(frames_[a]), weights[n]);
                for (std::size_t b = with_pairs ? 0 : a; b <= a; ++b) {
                    double* const to =
                        products_.data() + (with_pairs ? a * (a + 1) / 2 + b : a) * size;
                    const double* const from = table.products(frames_[a], frames_[b]);
                    for (std::size_t n = 0; n < size; ++n) to[n] = contract(from, weights[n]);
                }
            });
        has_frame_pairs_ = with_pairs;
    }

    /// The contrast of the grid at which a set fits best.
    Contrast best(const Members& members) const {
        const std::size_t count = members.size(), size = contrasts_.size();
        Equations equations(count);
        std::vector<const double*> products, right;
        for (std::size_t a = 0; a < count; ++a) {
            right.push_back(right_.data() + index(members[a]) * size);
            for (std::size_t b = 0; b <= a; ++b)
                products.push_back(row(index(members[a]), index(members[b])));
        }
        double largest = -1;
        std::size_t best = 0;
        unsigned bits = 1;
        for (std::size_t n = 0; n < size; ++n) {
            std::size_t at = 0;
            for (std::size_t a = 0; a < count; ++a) {
                equations.right[a] = right[a][n];
                for (std::size_t b = 0; b <= a; ++b)
                    equations.products[a * count + b] = equations.products[b * count + a] =
                        products[at++][n];
            }
            const double gain = best_gain(equations, bits, largest);
            if (gain <= largest) continue;
            largest = gain;
            best = n;
        }
        return contrasts_[best];
    }

private:
    std::size_t index(Index frame) const { return static_cast<std::size_t>(index_[frame]); }
    const double* row(std::size_t a, std::size_t b) const {
        if (a < b) std::swap(a, b);
        return products_.data() + (has_frame_pairs_ ? a * (a + 1) / 2 + b : a) * contrasts_.size();
    }

    const ProductTable& table_;
    std::vector<Contrast> contrasts_;
    std::vector<Index> index_;  // [frame]: index into frames_, -1 if no set contains it
    std::vector<Index> frames_;
    bool has_frame_pairs_ = false;
    std::vector<double> right_, products_;  // [frame or pair, contrast]
};

}  // namespace

std::vector<FittedSet> fit_from(const ProductTable& table, const std::vector<Members>& sets,
                                const std::function<Contrast(std::size_t)>& start, double precision,
                                int threads) {
    constexpr Index kBlock = 16;
    const EnsembleProblem& problem = table.problem();
    const bool is_atomic = are_atomic(problem.partial[0]);
    std::vector<FittedSet> fitted(sets.size());
    const auto count = std::ssize(sets);
    cancellable_parallel_for(
        problem.context, threads, (count + kBlock - 1) / kBlock, [&](Index block, int thread) {
            const Context of_thread = context_of_thread(problem.context, thread);
            for (Index n = block * kBlock; n < std::min(count, (block + 1) * kBlock); ++n) {
                const auto at = static_cast<std::size_t>(n);
                SetAtContrast set(table, sets[at]);
                const Contrast from = start(at);
                const Contrast contrast = search_contrast(
                    problem.options, is_atomic,
                    [&](const Contrast& tried) { return set.chi2(tried); }, &from, of_thread,
                    precision);
                fitted[at] = set.fitted(contrast);
            }
        });
    return fitted;
}

std::vector<FittedSet> fit_from_grid(const ProductTable& table, const std::vector<Members>& sets,
                                     double precision, int threads) {
    // Many single frames in blocks, so that their products at the grid's contrasts fit in memory.
    constexpr std::size_t kSingles = 1024;
    const bool are_singles = !sets.empty() && sets.front().size() == 1;
    std::vector<FittedSet> fitted;
    for (std::size_t first = 0; first < sets.size();) {
        const std::size_t last =
            are_singles ? std::min(first + kSingles, sets.size()) : sets.size();
        const std::vector<Members> block(sets.begin() + static_cast<std::ptrdiff_t>(first),
                                         sets.begin() + static_cast<std::ptrdiff_t>(last));
        const GridProducts grid(table, block, threads);
        std::vector<FittedSet> some = fit_from(
            table, block, [&](std::size_t n) { return grid.best(block[n]); }, precision, threads);
        std::move(some.begin(), some.end(), std::back_inserter(fitted));
        first = last;
    }
    return fitted;
}

}  // namespace pleat::saxs
