// Set fit: products at the contrasts of a grid, non-negative least squares, and Newton steps.
#include "pleat/saxs/fit/set_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>

#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/fit/least_squares.h"

namespace pleat::saxs {

namespace {

constexpr std::size_t kFewMembers = 8;

/// The normal equations of a set of frames at one contrast.
struct Equations {
    std::size_t count = 0;
    std::array<double, kFewMembers * kFewMembers> few_products;
    std::array<double, kFewMembers> few_right;
    std::vector<double> many_products, many_right;  // of more than kFewMembers

    explicit Equations(std::size_t members) : count(members) {
        if (members <= kFewMembers) return;
        many_products.resize(members * members);
        many_right.resize(members);
    }
    double* products() { return count > kFewMembers ? many_products.data() : few_products.data(); }
    double* right() { return count > kFewMembers ? many_right.data() : few_right.data(); }
};

/// Amounts, of either sign, of the members in a set of bits, and how much they lower chi^2.
struct Solution {
    double gain = 0;
    std::array<double, kFewMembers> amounts{};
    bool is_solved = false, is_positive = false;
};

/// Solves the equations of the members whose bits are set, by Cholesky. At most kFewMembers.
Solution solve_some(Equations& equations, unsigned bits) {
    const std::size_t n = equations.count;
    const double* const matrix = equations.products();
    std::array<std::size_t, kFewMembers> chosen;
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i)
        if ((bits >> i & 1U) != 0) chosen[count++] = i;
    std::array<double, kFewMembers * kFewMembers> root;
    std::array<double, kFewMembers> x;
    Solution result;
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = matrix[chosen[i] * n + chosen[j]];
            for (std::size_t k = 0; k < j; ++k) sum -= root[i * n + k] * root[j * n + k];
            if (i != j) {
                root[i * n + j] = sum / root[j * n + j];
            } else {
                if (!(sum > 1e-13 * matrix[chosen[i] * (n + 1)])) return result;
                root[i * n + i] = std::sqrt(sum);
            }
        }
        x[i] = equations.right()[chosen[i]];
        for (std::size_t k = 0; k < i; ++k) x[i] -= root[i * n + k] * x[k];
        x[i] /= root[i * n + i];
        result.gain += x[i] * x[i];
    }
    result.is_solved = result.is_positive = true;
    for (std::size_t i = count; i-- > 0;) {
        for (std::size_t k = i + 1; k < count; ++k) x[i] -= root[k * n + i] * x[k];
        x[i] /= root[i * n + i];
        result.amounts[chosen[i]] = x[i];
        result.is_positive = result.is_positive && x[i] > 0;
    }
    return result;
}

/// Whether a solution is the best without negative amounts: raising no amount from 0 lowers chi^2.
bool is_optimal(Equations& equations, const Solution& solution) {
    const std::size_t n = equations.count;
    for (std::size_t i = 0; i < n; ++i) {
        if (solution.amounts[i] > 0) continue;
        double fall = equations.right()[i];
        for (std::size_t k = 0; k < n; ++k)
            fall -= equations.products()[i * n + k] * solution.amounts[k];
        if (fall > 1e-12 * std::abs(equations.right()[i])) return false;
    }
    return true;
}

/// The amounts, none negative, that lower chi^2 most.
std::vector<double> best_amounts(Equations& equations) {
    const std::size_t n = equations.count;
    return solve_nonnegative({equations.products(), n * n}, {equations.right(), n});
}

double gain_of(Equations& equations, const std::vector<double>& amounts) {
    // At the optimum the quadratic term is half of the linear one.
    double gain = 0;
    for (std::size_t i = 0; i < amounts.size(); ++i) gain += amounts[i] * equations.right()[i];
    return gain;
}

/// How much the best amounts, none negative, lower chi^2; if that cannot exceed `enough`, an upper
/// bound of it. `bits`: the members with positive amounts of the last call, which are tried first.
double best_gain(Equations& equations, unsigned& bits, double enough = -INFINITY) {
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
    const std::vector<double> amounts = best_amounts(equations);
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
        FittedSet result{members_, contrast, best_amounts(equations_), 0};
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
            equations_.right()[a] = contract(table_.products_with_curve(members_[a]), weights_);
            for (std::size_t b = 0; b <= a; ++b)
                equations_.products()[a * n + b] = equations_.products()[b * n + a] =
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
    for (int n = 0; n < count; ++n)
        values.push_back(count == 1 ? min : min + (max - min) * n / (count - 1));
    return values;
}

/// Products of the frames of all sets at the contrasts of a grid.
class GridProducts {
public:
    GridProducts(const ProductTable& table, const std::vector<Members>& sets, int threads)
        : table_(table), index_(static_cast<std::size_t>(table.frame_count()), -1) {
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
                Index& index = index_[static_cast<std::size_t>(frame)];
                if (index >= 0) continue;
                index = static_cast<Index>(frames_.size());
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
        with_pairs_ = with_pairs;
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
                equations.right()[a] = right[a][n];
                for (std::size_t b = 0; b <= a; ++b)
                    equations.products()[a * count + b] = equations.products()[b * count + a] =
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
    std::size_t index(Index frame) const {
        return static_cast<std::size_t>(index_[static_cast<std::size_t>(frame)]);
    }
    const double* row(std::size_t a, std::size_t b) const {
        if (a < b) std::swap(a, b);
        return products_.data() + (with_pairs_ ? a * (a + 1) / 2 + b : a) * contrasts_.size();
    }

    const ProductTable& table_;
    std::vector<Contrast> contrasts_;
    std::vector<Index> index_;  // [frame]: index into frames_, -1 if no set contains it
    std::vector<Index> frames_;
    bool with_pairs_ = false;
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
    const auto count = static_cast<Index>(sets.size());
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
