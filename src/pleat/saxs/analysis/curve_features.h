// Curve features: Kratky peak, Porod's law, volumes and masses of a curve with known Rg and I(0).
#pragma once

#include "pleat/saxs/analysis/analysis.h"

namespace pleat::saxs {

/// Computes all features of a curve with a valid Guinier range. `concentration` in mg/ml, if the
/// intensities are in 1/cm.
CurveFeatures curve_features(const CurveAnalysis& analysis, std::optional<double> concentration);

/// The probability in noise of so few changes of sign of the residuals of P(r); below kMisfit, P(r)
/// does not fit.
double chance_of_residuals(const CurveAnalysis& analysis);
inline constexpr double kMisfit = 1e-3;

}  // namespace pleat::saxs
