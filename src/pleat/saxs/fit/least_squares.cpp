// Least squares: sums of products by vector instructions, Cholesky, and Lawson and Hanson's active
// sets.
#include "pleat/saxs/fit/least_squares.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/saxs/fit/least_squares.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::saxs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

double sum_of_products(const double* HWY_RESTRICT a, const double* HWY_RESTRICT b,
                       std::size_t count) {
    // Four sums: an addition takes four cycles, and one starts every cycle or two.
    const hn::ScalableTag<double> d;
    const std::size_t lanes = hn::Lanes(d);
    auto first = hn::Zero(d), second = hn::Zero(d), third = hn::Zero(d), fourth = hn::Zero(d);
    std::size_t k = 0;
    for (; k + 4 * lanes <= count; k += 4 * lanes) {
        first = hn::MulAdd(hn::LoadU(d, a + k), hn::LoadU(d, b + k), first);
        second = hn::MulAdd(hn::LoadU(d, a + k + lanes), hn::LoadU(d, b + k + lanes), second);
        third = hn::MulAdd(hn::LoadU(d, a + k + 2 * lanes), hn::LoadU(d, b + k + 2 * lanes), third);
        fourth =
            hn::MulAdd(hn::LoadU(d, a + k + 3 * lanes), hn::LoadU(d, b + k + 3 * lanes), fourth);
    }
    for (; k + lanes <= count; k += lanes)
        first = hn::MulAdd(hn::LoadU(d, a + k), hn::LoadU(d, b + k), first);
    double sum =
        hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(first, second), hn::Add(third, fourth))));
    for (; k < count; ++k) sum += a[k] * b[k];
    return sum;
}

}  // namespace pleat::saxs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::saxs {

HWY_EXPORT(sum_of_products);

double dot(const double* a, const double* b, std::size_t count) {
    return HWY_DYNAMIC_DISPATCH(sum_of_products)(a, b, count);
}

bool solve_cholesky(std::span<const double> matrix, std::span<const double> right,
                    std::vector<double>& x) {
    const std::size_t n = right.size();
    std::vector<double> root(n * n);
    const auto of = [&](std::size_t i, std::size_t j) { return matrix[i * n + j]; };
    if (!cholesky_root(n, n, of, root.data())) return false;
    x.assign(right.begin(), right.end());
    solve_lower(n, n, root.data(), x.data());
    solve_upper(n, n, root.data(), x.data());
    return true;
}

namespace {

class ActiveSet {
public:
    ActiveSet(std::span<const double> matrix, std::span<const double> right)
        : matrix_(matrix), right_(right), x_(right.size(), 0), refused_(right.size(), false) {}

    std::vector<double> run() {
        const std::size_t n = right_.size();
        for (std::size_t rounds = 0; rounds < 10 * n + 10; ++rounds) {
            const std::size_t entering = steepest();
            if (entering == n) break;
            passive_.push_back(entering);
            if (!move_to_optimum()) {
                std::erase(passive_, entering);
                refused_[entering] = true;
            }
        }
        return x_;
    }

private:
    /// The variable at 0 along which the objective falls fastest; n if there is none.
    std::size_t steepest() const {
        const std::size_t n = right_.size();
        std::size_t best = n;
        double largest = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (refused_[i] || std::ranges::find(passive_, i) != passive_.end()) continue;
            double fall = right_[i];
            for (std::size_t k = 0; k < n; ++k) fall -= matrix_[i * n + k] * x_[k];
            const double scale = std::sqrt(std::max(matrix_[i * n + i], 1e-300));
            if (fall / scale > largest && fall > 1e-12 * std::abs(right_[i])) {
                largest = fall / scale;
                best = i;
            }
        }
        return best;
    }

    /// Moves to the optimum over the passive variables, dropping those that would be negative.
    bool move_to_optimum() {
        const std::size_t n = right_.size();
        std::vector<double> solution;
        while (!passive_.empty()) {
            const std::size_t count = passive_.size();
            std::vector<double> matrix(count * count), right(count);
            for (std::size_t a = 0; a < count; ++a) {
                right[a] = right_[passive_[a]];
                for (std::size_t b = 0; b < count; ++b)
                    matrix[a * count + b] = matrix_[passive_[a] * n + passive_[b]];
            }
            if (!solve_cholesky(matrix, right, solution)) return false;
            double step = 1;
            for (std::size_t a = 0; a < count; ++a) {
                const double from = x_[passive_[a]];
                if (solution[a] <= 0) step = std::min(step, from / (from - solution[a]));
            }
            if (!(step >= 0)) step = 0;  // 0 / 0: the variable is 0 and would become negative
            std::vector<std::size_t> kept;
            for (std::size_t a = 0; a < count; ++a) {
                double& value = x_[passive_[a]];
                const bool leaves =
                    solution[a] <= 0 && value + step * (solution[a] - value) <= 1e-14;
                value = step < 1 ? value + step * (solution[a] - value) : solution[a];
                if (leaves)
                    value = 0;
                else
                    kept.push_back(passive_[a]);
            }
            const bool is_done = kept.size() == passive_.size();
            passive_ = std::move(kept);
            if (is_done) return true;
        }
        return true;
    }

    const std::span<const double> matrix_, right_;
    std::vector<double> x_;
    std::vector<bool> refused_;
    std::vector<std::size_t> passive_;
};

}  // namespace

std::vector<double> solve_nonnegative(std::span<const double> matrix,
                                      std::span<const double> right) {
    return ActiveSet(matrix, right).run();
}

}  // namespace pleat::saxs
#endif
