// Curve likelihood: how probable a measured curve is for a profile, whatever scale and hydration.
#pragma once

#include <span>
#include <vector>

#include "pleat/bio/scattering/profile.h"
#include "pleat/core/array.h"
#include "pleat/workflows/refine/fit/quadratic_forms.h"

namespace pleat::refine {

struct LikelihoodOptions {
    double model_error = 0.02;     ///< relative error of profiles, correlated over `correlation`
    double correlation = 0.03;     ///< 1/angstrom
    std::vector<double> c2 = {0};  ///< equally probable
};

/// The fit of one profile.
struct CurveFit {
    double log_likelihood = 0;
    double chi2 = 0;  ///< mean over points of ((I - model) / sigma)^2, model error left out
    double c2 = 0;    ///< of the best fit
};

/// How far the residuals of a fit are from noise with the covariance Sigma: of uncorrelated
/// residuals L^-1 (y - model), Sigma = L L', in the order of q.
struct ResidualTest {
    double squares = 1;  ///< probability of a sum of squares at least as large
    double runs = 1;     ///< probability of as few runs of residuals of one sign (Wald, Wolfowitz)
};

/// With W the matrix of cubic splines from the grid of q to the curve's points, and the covariance
/// of errors Sigma_kl = sigma_k^2 delta_kl + m^2 I_k I_l exp(-(q_k - q_l)^2 / (2 l^2)):
///     a = I' W' Sigma^-1 W I,  e = I' W' Sigma^-1 y,  c = y' Sigma^-1 y
/// and for a scale with a flat prior above 0
///     L = a^(-1/2) Phi(e / sqrt(a)) exp(-(c - e^2 / a) / 2),
/// summed over c2. W' Sigma^-1 W is computed once, so a profile costs the square of the grid,
/// whatever c2.
class CurveLikelihood {
public:
    /// `q`: the grid, rising from 0, which the curve's points must not exceed.
    CurveLikelihood(const Profile& curve, std::span<const double> q,
                    const LikelihoodOptions& options);

    /// `partial` [channel pair, q]: net amplitudes, their products with the hydration layer, and
    /// that layer; or only net amplitudes.
    CurveFit fit(View<const double, 2> partial) const;
    /// CurveFit::log_likelihood, at half the cost.
    double log_likelihood(View<const double, 2> partial) const;
    /// Residuals and test values at the best scale and c2 for this covariance.
    ResidualTest residual_test(View<const double, 2> partial) const;

private:
    /// Products of profiles with the inverse of one covariance.
    struct CovarianceForms {
        QuadraticForms profile_forms;  ///< W' Sigma^-1 W and W' Sigma^-1 y
        double constant = 0;           ///< c
    };
    CovarianceForms forms(const std::vector<double>& inverse) const;

    std::size_t grid_, points_;
    LikelihoodOptions options_;
    std::vector<double> factor_;     ///< [point, point]: L^-1
    std::vector<double> spline_;     ///< [point, q]
    std::vector<double> intensity_;  ///< [point]
    CovarianceForms with_model_error_, without_model_error_;
};

}  // namespace pleat::refine
