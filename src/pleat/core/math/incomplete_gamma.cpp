// Incomplete gamma function: a power series below the mean, a continued fraction above it.
#include "pleat/core/math/incomplete_gamma.h"

#include <cmath>
#include <numbers>

namespace pleat {

namespace {

constexpr double kPrecision = 1e-16;
constexpr int kMaxTerms = 2'000'000;  // the sums need about 10 sqrt(a) terms near x = a

/// ln Gamma(a) less Stirling's formula (a - 1/2) ln a - a + ln(2 pi) / 2, for a >= 10.
double stirling_correction(double a) {
    const double inverse = 1 / a, square = inverse * inverse;
    return inverse *
           (1.0 / 12 -
            square * (1.0 / 360 -
                      square * (1.0 / 1260 -
                                square * (1.0 / 1680 -
                                          square * (1.0 / 1188 - square * 691.0 / 360360)))));
}

/// x^a e^-x / Gamma(a), x = a (1 + u). For large a its logarithm is a small difference of numbers
/// near a ln a; giving u separately avoids the cancellation: the error is about sqrt(a) z 1e-16 at
/// z standard deviations.
double density(double a, double x, double u) {
    if (a < 10) return std::exp(a * std::log(x) - x - std::lgamma(a));
    return std::exp(a * (std::log1p(u) - u) - stirling_correction(a)) *
           std::sqrt(a / (2 * std::numbers::pi));
}

/// P(a, x) by the power series x^a e^-x / Gamma(a) sum of x^n / (a (a+1) ... (a+n)).
double lower_series(double a, double x, double u) {
    double term = 1 / a, sum = term;
    for (int n = 1; n < kMaxTerms && term > kPrecision * sum; ++n) {
        term *= x / (a + n);
        sum += term;
    }
    return sum * density(a, x, u);
}

/// Q(a, x) by its continued fraction, evaluated from the front (Lentz, Appl. Opt. 15:668, 1976).
double upper_fraction(double a, double x, double u) {
    constexpr double kTiny = 1e-300;
    double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, value = d;
    for (int n = 1; n < kMaxTerms; ++n) {
        const double numerator = -n * (n - a);
        b += 2;
        d = numerator * d + b;
        if (std::abs(d) < kTiny) d = kTiny;
        c = b + numerator / c;
        if (std::abs(c) < kTiny) c = kTiny;
        d = 1 / d;
        value *= d * c;
        if (std::abs(d * c - 1) <= 2 * kPrecision) break;
    }
    return value * density(a, x, u);
}

}  // namespace

IncompleteGamma incomplete_gamma(double a, double x, double u) {
    if (!(x > 0)) return {0, 1};
    if (std::isinf(x)) return {1, 0};
    if (x < a + 1) {
        const double lower = lower_series(a, x, u);
        return {lower, 1 - lower};
    }
    const double upper = upper_fraction(a, x, u);
    return {1 - upper, upper};
}

IncompleteGamma incomplete_gamma(double a, double x) { return incomplete_gamma(a, x, (x - a) / a); }

}  // namespace pleat
