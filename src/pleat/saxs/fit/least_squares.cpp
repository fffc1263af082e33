// Least squares: Cholesky, and Lawson and Hanson's active sets on the normal equations.
#include "pleat/saxs/fit/least_squares.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace pleat::saxs {

bool solve_cholesky(std::span<const double> matrix, std::span<const double> right,
                    std::vector<double>& x) {
    const std::size_t n = right.size();
    std::vector<double> root(matrix.begin(), matrix.end());
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = root[i * n + j];
            for (std::size_t k = 0; k < j; ++k) sum -= root[i * n + k] * root[j * n + k];
            if (i != j) {
                root[i * n + j] = sum / root[j * n + j];
            } else {
                // Below the rounding error the matrix counts as singular.
                if (!(sum > 1e-13 * matrix[i * n + i])) return false;
                root[i * n + i] = std::sqrt(sum);
            }
        }
    }
    x.assign(right.begin(), right.end());
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) x[i] -= root[i * n + k] * x[k];
        x[i] /= root[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) x[i] -= root[k * n + i] * x[k];
        x[i] /= root[i * n + i];
    }
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
            if (refused_[i] || std::find(passive_.begin(), passive_.end(), i) != passive_.end())
                continue;
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
