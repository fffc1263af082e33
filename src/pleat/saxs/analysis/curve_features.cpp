// Curve features: integrals of the curve, continued to q = 0 by Guinier's law.
#include "pleat/saxs/analysis/curve_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pleat/saxs/analysis/curve_comparison.h"
#include "pleat/saxs/analysis/pair_distances.h"
#include "pleat/saxs/fit/fit.h"

namespace pleat::saxs {

namespace {

/// The integral of q^power I(q) from 0 to `q_max`: Guinier's law up to its range, then the points.
double integral(const CurveAnalysis& of, int power, double q_max) {
    const Profile& curve = of.curve;
    const Guinier& guinier = of.guinier;
    constexpr int kSteps = 100;
    const double from = curve.q[guinier.first];
    double sum = 0;
    for (int n = 0; n < kSteps; ++n) {
        const double q = from * (n + 0.5) / kSteps, x = q * guinier.gyration_radius;
        sum +=
            std::pow(q, power) * guinier.forward_intensity * std::exp(-x * x / 3) * from / kSteps;
    }
    for (std::size_t k = guinier.first; k + 1 < curve.size() && curve.q[k + 1] <= q_max; ++k)
        sum += (curve.q[k + 1] - curve.q[k]) / 2 *
               (std::pow(curve.q[k], power) * curve.intensity[k] +
                std::pow(curve.q[k + 1], power) * curve.intensity[k + 1]);
    return sum;
}

/// The last q of the points up to `q`.
double end_of(const Profile& curve, double q) {
    const auto after = std::upper_bound(curve.q.begin(), curve.q.end(), q);
    return after == curve.q.begin() ? curve.q.front() : *(after - 1);
}

/// Volume of a protein from the apparent Porod volume of a curve that ends at q, after Fischer et
/// al. (2010); polynomials of Piiadov et al. (2019), for q from 0.1 to 0.5.
double corrected_volume(double apparent, double q) {
    const double start = (((-2.114e6 * q + 2.920e6) * q - 1.472e6) * q + 3.349e5) * q - 3.577e4;
    const double factor = ((12.09 * q - 9.39) * q + 3.03) * q + 0.29;
    return start + factor * apparent;
}

void add_masses(const CurveAnalysis& of, std::optional<double> concentration,
                CurveFeatures& features) {
    constexpr double kMinEnd = 0.1, kMaxEnd = 0.5, kPorodProduct = 8, kMaxCorrelation = 0.3;
    constexpr double kDaltonPerVolume = 0.83, kCorrelation = 0.1231;
    const Guinier& guinier = of.guinier;
    const double forward = guinier.forward_intensity;
    const double porod_end =
        end_of(of.curve, std::min(kMaxEnd, kPorodProduct / guinier.gyration_radius));
    const double invariant = integral(of, 2, porod_end);
    if (porod_end >= kMinEnd && invariant > 0) {
        const double volume = corrected_volume(
            2 * std::numbers::pi * std::numbers::pi * forward / invariant, porod_end);
        features.porod_volume = volume > 0 ? volume : NAN;
        features.mass_of_porod_volume = kDaltonPerVolume * features.porod_volume / 1000;
    }
    const double end = end_of(of.curve, kMaxCorrelation), area = integral(of, 1, end);
    if (end * guinier.gyration_radius > 3 && area > 0) {
        const double vc = forward / area;
        features.volume_of_correlation = vc;
        features.mass_of_correlation = vc * vc / guinier.gyration_radius / kCorrelation / 1000;
    }
    if (concentration && *concentration > 0) {
        // Excess scattering length of proteins in water, cm/g: (3.22 - 0.7425 * 3.34) 10^23
        // electrons per gram times 2.8179e-13 cm.
        constexpr double kContrast = (3.22 - 0.7425 * 3.34) * 1e23 * 2.8179e-13;
        constexpr double kAvogadro = 6.02214e23, kGramPerMilligram = 1e-3;
        features.mass_of_intensity = kAvogadro * forward /
                                     (*concentration * kGramPerMilligram * kContrast * kContrast) /
                                     1000;
    }
}

/// The first maximum of (q Rg)^2 I / I(0) of the smooth curve; NaN if there is none up to the end.
void add_kratky_peak(const CurveAnalysis& of, CurveFeatures& features) {
    constexpr double kFrom = 0.5, kTo = 5, kStep = 0.02;
    const double rg = of.pairs.gyration_radius;
    const double end = std::min(kTo, of.curve.q.back() * rg);
    std::vector<double> q(end > kFrom ? static_cast<std::size_t>((end - kFrom) / kStep) + 1 : 0);
    for (std::size_t k = 0; k < q.size(); ++k) q[k] = (kFrom + kStep * static_cast<double>(k)) / rg;
    const std::vector<double> smooth = intensity_of(of.pairs, q);
    const auto height = [&](std::size_t k) {
        return q[k] * q[k] * rg * rg * smooth[k] / of.pairs.forward_intensity;
    };
    for (std::size_t k = 1; k + 1 < q.size(); ++k)
        if (height(k) > height(k - 1) && height(k) >= height(k + 1)) {
            features.kratky_position = q[k] * rg;
            features.kratky_height = height(k);
            return;
        }
}

/// ln I against ln q from q Rg = 2 to 6.
void add_porod_exponent(const CurveAnalysis& of, CurveFeatures& features) {
    constexpr double kFrom = 2, kTo = 6;
    constexpr std::size_t kMinPoints = 8;
    const double rg = of.gyration_radius();
    WeightedLine line;
    std::size_t points = 0;
    for (std::size_t k = 0; k < of.curve.size(); ++k) {
        const double x = of.curve.q[k] * rg, intensity = of.curve.intensity[k];
        if (x < kFrom || x > kTo || intensity <= 0) continue;
        line.add(std::log(x), std::log(intensity), std::pow(intensity / of.curve.sigma[k], 2));
        ++points;
    }
    if (points < kMinPoints || !(line.determinant() > 0)) return;
    features.porod_exponent = -line.slope();
    features.porod_exponent_error = line.slope_error() * std::max(1.0, of.pairs.error_scale);
}

/// In words, by position and height of the Kratky peak (of Guinier's law: 1.73 and 1.10).
std::string shape_in_words(const CurveFeatures& features, double end) {
    constexpr double kMaxCompact = 2.0, kMaxCompactHeight = 1.25, kMaxElongated = 3.2;
    constexpr double kNeeded = 3;
    if (!std::isfinite(features.kratky_position)) {
        if (end < kNeeded)
            return fmt::format("not known: the curve ends at q Rg {:.1f}, below 3", end);
        return "disordered: the dimensionless Kratky plot has no peak up to q Rg 5";
    }
    const std::string peak =
        fmt::format("Kratky peak {:.2f} at q Rg {:.2f}; a globular protein has 1.10 at 1.73",
                    features.kratky_height, features.kratky_position);
    if (features.kratky_position < kMaxCompact && features.kratky_height < kMaxCompactHeight)
        return "compact: " + peak;
    // A sum of the curves of compact particles and of some larger ones has such a peak, too.
    constexpr double kMinSolid = 3;
    const std::string or_mixture =
        features.porod_exponent > kMinSolid
            ? "; compact particles with some aggregates have the same curve"
            : "";
    return (features.kratky_position < kMaxElongated ? "elongated or of several domains: "
                                                     : "flexible: ") +
           peak + or_mixture;
}

}  // namespace

double chance_of_residuals(const CurveAnalysis& analysis) {
    std::vector<double> residuals = analysis.curve.intensity;
    for (std::size_t k = 0; k < residuals.size(); ++k) residuals[k] -= analysis.pairs.model[k];
    return few_runs_probability(residuals);
}

CurveFeatures curve_features(const CurveAnalysis& analysis, std::optional<double> concentration) {
    CurveFeatures features;
    for (double CurveFeatures::*const member :
         {&CurveFeatures::kratky_position, &CurveFeatures::kratky_height,
          &CurveFeatures::porod_exponent, &CurveFeatures::porod_exponent_error,
          &CurveFeatures::porod_volume, &CurveFeatures::volume_of_correlation,
          &CurveFeatures::mass_of_porod_volume, &CurveFeatures::mass_of_correlation,
          &CurveFeatures::mass_of_intensity})
        features.*member = NAN;
    if (analysis.guinier.is_valid) add_masses(analysis, concentration, features);
    if (analysis.pairs.is_valid) {
        add_kratky_peak(analysis, features);
        add_porod_exponent(analysis, features);
        features.shape =
            analysis.pairs.error_scale > kMaxErrorScale && chance_of_residuals(analysis) < kMisfit
                ? "not known: P(r) does not fit the curve"
                : shape_in_words(features,
                                 analysis.curve.q.back() * analysis.pairs.gyration_radius);
    }
    return features;
}

}  // namespace pleat::saxs
