// Field Newton: Cholesky steps of limited length, shortened if f rises.
#include "pleat/couplings/fit/field_newton.h"

#include <algorithm>
#include <cmath>

namespace pleat::couplings {

namespace {

constexpr int kMaxPasses = 30;
constexpr double kLongestStep =
    3.0;  // fields are logarithms: a step of 3 changes a probability by a factor of 20
constexpr double kSlow = 0.04;  // a new Hessian is computed if a step reduces the squared gradient
                                // by less than this factor

using Vector = double[kMaxFreeLetters];
using Matrix = double[kMaxFreeLetters * kMaxFreeLetters];

// Cholesky factor in place (lower triangle); returns false if not positive definite.
bool cholesky(int n, double* a) {
    for (int j = 0; j < n; ++j) {
        double diagonal = a[j * n + j];
        for (int k = 0; k < j; ++k) diagonal -= a[j * n + k] * a[j * n + k];
        if (!(diagonal > 0)) return false;
        diagonal = std::sqrt(diagonal);
        a[j * n + j] = diagonal;
        for (int i = j + 1; i < n; ++i) {
            double value = a[i * n + j];
            for (int k = 0; k < j; ++k) value -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = value / diagonal;
        }
    }
    return true;
}

void solve(int n, const double* factor, const double* gradient, double* step) {
    for (int i = 0; i < n; ++i) {
        double value = -gradient[i];
        for (int k = 0; k < i; ++k) value -= factor[i * n + k] * step[k];
        step[i] = value / factor[i * n + i];
    }
    for (int i = n - 1; i >= 0; --i) {
        double value = step[i];
        for (int k = i + 1; k < n; ++k) value -= factor[k * n + i] * step[k];
        step[i] = value / factor[i * n + i];
    }
}

double norm2(int n, const double* v) {
    double sum = 0;
    for (int a = 0; a < n; ++a) sum += v[a] * v[a];
    return sum;
}

}  // namespace

double minimise_fields(int free, double lambda, double target2, double* e, const FieldPass& pass) {
    Vector gradient, step, trial, trial_gradient;
    Matrix factor;
    const auto regularised = [&](const double* at, double* g, double* h) {
        const double data = pass(at, g, h);
        for (int a = 0; a < free; ++a) g[a] += 2 * lambda * at[a];
        if (h != nullptr) {
            for (int a = 0; a < free; ++a) h[a * free + a] += 2 * lambda;
        }
        return data;
    };
    double data = regularised(e, gradient, factor);
    double g2 = norm2(free, gradient);
    bool new_factor = true, slow = false;
    for (int passes = 1; passes < kMaxPasses && g2 > target2; ++passes) {
        if (new_factor && !cholesky(free, factor)) break;
        solve(free, factor, gradient, step);
        double longest = 0;
        for (int a = 0; a < free; ++a) longest = std::max(longest, std::abs(step[a]));
        double length = longest > kLongestStep ? kLongestStep / longest : 1.0;
        new_factor = slow || length < 1;
        const double before = data + lambda * norm2(free, e);
        for (;;) {
            for (int a = 0; a < free; ++a) trial[a] = e[a] + length * step[a];
            data = regularised(trial, trial_gradient, new_factor ? factor : nullptr);
            const double after = data + lambda * norm2(free, trial);
            // A smaller gradient is progress too: near the optimum, f differs by rounding only.
            if (after <= before || norm2(free, trial_gradient) < g2) break;
            if (++passes >= kMaxPasses) break;
            new_factor = true;
            length *= 0.25;
        }
        const double new_g2 = norm2(free, trial_gradient);
        std::copy_n(trial, free, e);
        std::copy_n(trial_gradient, free, gradient);
        slow = new_g2 > kSlow * g2;
        const bool stuck = new_g2 >= 0.5 * g2 && new_g2 < 1e4 * target2;
        g2 = new_g2;
        if (stuck) break;  // further steps cannot improve float sums
    }
    return data;
}

}  // namespace pleat::couplings
