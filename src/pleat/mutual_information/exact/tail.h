// Tail: tail probabilities of a null distribution from its first moments.
#pragma once

namespace pleat::mutual_information {

/// The regularised upper incomplete gamma function Q(a, x) = Gamma(a, x) / Gamma(a), a > 0, x >= 0,
/// and its complement P = 1 - Q, each computed without cancellation (relative error below 1e-10 for
/// a <= 1e8, down to the smallest doubles).
struct IncompleteGamma {
    double lower;  ///< P(a, x)
    double upper;  ///< Q(a, x)
};
IncompleteGamma incomplete_gamma(double a, double x);

/// P(Z >= z) of the Pearson type III distribution with mean 0, variance 1 and this skewness g: a
/// gamma distribution of shape 4 / g^2, shifted, and mirrored where g < 0 (Pearson, Phil. Trans. A
/// 186:343, 1895). The normal distribution where |g| < 1e-4. Beyond the support it is 1 (below)
/// or 0 (above). NaN if an argument is NaN.
double pearson_tail(double z, double skewness);

/// P(X >= x) of the gamma distribution with this mean and variance, for an unknown skewness. Right
/// to within a factor of a few for nulls with many values; wrong for conserved columns. NaN unless
/// mean and variance are above 0.
double gamma_tail(double x, double mean, double variance);

}  // namespace pleat::mutual_information
