// Curve likelihood: the covariance inverted once, and the sums of each profile.
#include "pleat/workflows/refine/fit/curve_likelihood.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "pleat/saxs/fit/fit.h"
#include "pleat/saxs/fit/resampling.h"

namespace pleat::refine {

namespace {

/// Inverts a symmetric positive definite matrix [n, n] in place. Returns L^-1 of its Cholesky
/// factor L; elements above the diagonal are undefined.
std::vector<double> invert(std::vector<double>& matrix, std::size_t n) {
    std::vector<double>& l = matrix;
    for (std::size_t row = 0; row < n; ++row)
        for (std::size_t column = 0; column <= row; ++column) {
            double sum = l[row * n + column];
            for (std::size_t k = 0; k < column; ++k) sum -= l[row * n + k] * l[column * n + k];
            if (row == column) {
                if (sum <= 0) throw std::logic_error("a covariance is not positive definite");
                l[row * n + row] = std::sqrt(sum);
            } else {
                l[row * n + column] = sum / l[column * n + column];
            }
        }
    // Inverts the factor in place, then multiplies it by its transpose.
    for (std::size_t column = 0; column < n; ++column) {
        l[column * n + column] = 1 / l[column * n + column];
        for (std::size_t row = column + 1; row < n; ++row) {
            double sum = 0;
            for (std::size_t k = column; k < row; ++k) sum -= l[row * n + k] * l[k * n + column];
            l[row * n + column] = sum / l[row * n + row];
        }
    }
    std::vector<double> inverse(n * n);
    for (std::size_t row = 0; row < n; ++row)
        for (std::size_t column = 0; column <= row; ++column) {
            double sum = 0;
            for (std::size_t k = row; k < n; ++k) sum += l[k * n + row] * l[k * n + column];
            inverse[row * n + column] = inverse[column * n + row] = sum;
        }
    std::swap(matrix, inverse);
    return inverse;
}

/// The curve smoothed by weighted means over `width`, for the error of the model.
std::vector<double> smoothed(const Profile& curve, double width) {
    std::vector<double> values(curve.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
        double sum = 0, weights = 0;
        for (std::size_t l = 0; l < values.size(); ++l) {
            const double away = (curve.q[k] - curve.q[l]) / width,
                         weight = std::exp(-away * away / 2) / (curve.sigma[l] * curve.sigma[l]);
            sum += weight * curve.intensity[l];
            weights += weight;
        }
        values[k] = sum / weights;
    }
    return values;
}

/// ln Phi(x) of the normal distribution, also accurate for very negative x.
double log_normal_tail(double x) {
    if (x > 9) return 0;  // above -2e-19
    if (x > -20) return std::log(std::erfc(-x / std::numbers::sqrt2) / 2);
    return -x * x / 2 - std::log(-x) - std::log(2 * std::numbers::pi) / 2;
}

/// P(chi^2 >= value) with this many degrees of freedom (Wilson and Hilferty 1931).
double chi_square_tail(double value, double freedom) {
    const double c = 2 / (9 * freedom);
    return std::erfc((std::cbrt(value / freedom) - 1 + c) / std::sqrt(2 * c)) / 2;
}

}  // namespace

CurveLikelihood::CurveLikelihood(const Profile& curve, std::span<const double> q,
                                 const LikelihoodOptions& options)
    : grid_(q.size()), points_(curve.size()), options_(options), intensity_(curve.intensity) {
    spline_.resize(points_ * grid_);
    std::vector<double> one(grid_);
    for (std::size_t column = 0; column < grid_; ++column) {
        one[column] = 1;
        const std::vector<double> values = saxs::interpolate_spline(q, one, curve.q);
        for (std::size_t k = 0; k < points_; ++k) spline_[k * grid_ + column] = values[k];
        one[column] = 0;
    }
    std::vector<double> diagonal(points_ * points_);
    for (std::size_t k = 0; k < points_; ++k)
        diagonal[k * points_ + k] = curve.sigma[k] * curve.sigma[k];
    std::vector<double> covariance = diagonal;
    const std::vector<double> level = smoothed(curve, options.correlation / 4);
    for (std::size_t k = 0; k < points_; ++k)
        for (std::size_t l = 0; l < points_; ++l) {
            const double away = (curve.q[k] - curve.q[l]) / options.correlation;
            covariance[k * points_ + l] += options.model_error * options.model_error * level[k] *
                                           level[l] * std::exp(-away * away / 2);
        }
    factor_ = invert(covariance, points_);
    with_model_error_ = forms(covariance);
    for (std::size_t k = 0; k < points_; ++k)
        diagonal[k * points_ + k] = 1 / diagonal[k * points_ + k];
    without_model_error_ = forms(diagonal);
}

CurveLikelihood::CovarianceForms CurveLikelihood::forms(const std::vector<double>& inverse) const {
    std::vector<double> half(points_ * grid_), weighted(points_);  // Sigma^-1 W, Sigma^-1 y
    for (std::size_t k = 0; k < points_; ++k)
        for (std::size_t l = 0; l < points_; ++l) {
            const double weight = inverse[k * points_ + l];
            if (weight == 0) continue;
            weighted[k] += weight * intensity_[l];
            for (std::size_t n = 0; n < grid_; ++n)
                half[k * grid_ + n] += weight * spline_[l * grid_ + n];
        }
    std::vector<double> square(grid_ * grid_), linear(grid_);
    double constant = 0;
    for (std::size_t k = 0; k < points_; ++k) {
        constant += weighted[k] * intensity_[k];
        for (std::size_t n = 0; n < grid_; ++n) {
            const double weight = spline_[k * grid_ + n];
            if (weight == 0) continue;
            linear[n] += weight * weighted[k];
            for (std::size_t m = 0; m < grid_; ++m)
                square[n * grid_ + m] += weight * half[k * grid_ + m];
        }
    }
    return {QuadraticForms(square, linear), constant};
}

double CurveLikelihood::log_likelihood(View<const double, 2> partial) const {
    const FormPolynomials of = with_model_error_.profile_forms.polynomials(partial);
    // The sum over c2 as a multiple of exp(largest).
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const double c2 : options_.c2) {
        const double a = of.square_form_at(c2), e = of.linear_form_at(c2), root = std::sqrt(a),
                     exponent =
                         log_normal_tail(e / root) - (with_model_error_.constant - e * e / a) / 2;
        if (exponent > largest) {
            sum *= std::exp(largest - exponent);
            largest = exponent;
        }
        sum += std::exp(exponent - largest) / root;
    }
    return largest + std::log(sum / static_cast<double>(options_.c2.size()));
}

CurveFit CurveLikelihood::fit(View<const double, 2> partial) const {
    CurveFit best{.log_likelihood = log_likelihood(partial),
                  .chi2 = std::numeric_limits<double>::infinity()};
    const FormPolynomials plain = without_model_error_.profile_forms.polynomials(partial);
    for (const double c2 : options_.c2) {
        const double square = plain.square_form_at(c2), product = plain.linear_form_at(c2);
        const double scale = std::max(product / square, 0.0),
                     chi2 =
                         (without_model_error_.constant - scale * (2 * product - scale * square)) /
                         static_cast<double>(points_);
        if (chi2 < best.chi2) {
            best.chi2 = chi2;
            best.c2 = c2;
        }
    }
    return best;
}

ResidualTest CurveLikelihood::residual_test(View<const double, 2> partial) const {
    const FormPolynomials correlated = with_model_error_.profile_forms.polynomials(partial);
    double best = -std::numeric_limits<double>::infinity(), best_c2 = 0, scale = 0;
    for (const double c2 : options_.c2) {
        const double a = correlated.square_form_at(c2), e = correlated.linear_form_at(c2);
        const double explained = e > 0 ? e * e / a : 0;
        if (explained <= best) continue;
        best = explained;
        best_c2 = c2;
        scale = std::max(e / a, 0.0);
    }
    std::vector<double> model(grid_), residuals(points_);
    for (std::size_t n = 0; n < grid_; ++n) {
        const auto k = static_cast<Index>(n);
        model[n] = scale * partial(0, k);
        if (partial.extent(0) == 3)
            model[n] += scale * best_c2 * (partial(1, k) + best_c2 * partial(2, k));
    }
    for (std::size_t k = 0; k < points_; ++k) {
        residuals[k] = intensity_[k];
        for (std::size_t n = 0; n < grid_; ++n) residuals[k] -= spline_[k * grid_ + n] * model[n];
    }
    std::vector<double> independent(points_);
    double squares = 0;
    for (std::size_t k = 0; k < points_; ++k) {
        for (std::size_t l = 0; l <= k; ++l)
            independent[k] += factor_[k * points_ + l] * residuals[l];
        squares += independent[k] * independent[k];
    }
    constexpr double kFitted = 2;  // scale and c2
    return {.squares = chi_square_tail(squares, static_cast<double>(points_) - kFitted),
            .runs = saxs::few_runs_probability(independent)};
}

}  // namespace pleat::refine
