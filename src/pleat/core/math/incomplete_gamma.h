// Incomplete gamma function: tail probabilities of gamma distributions.
#pragma once

namespace pleat {

/// The regularised upper incomplete gamma function Q(a, x) = Gamma(a, x) / Gamma(a), a > 0, x >= 0,
/// and its complement P = 1 - Q, each computed without cancellation (relative error below 1e-10 for
/// a <= 1e8, down to the smallest doubles).
struct IncompleteGamma {
    double lower;  ///< P(a, x)
    double upper;  ///< Q(a, x)
};
IncompleteGamma incomplete_gamma(double a, double x);

/// The same at x = a (1 + u), where u is known more precisely than x.
IncompleteGamma incomplete_gamma(double a, double x, double u);

}  // namespace pleat
