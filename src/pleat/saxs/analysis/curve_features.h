// Curve features: Kratky peak, Porod's law, volumes and masses of a curve with known Rg and I(0).
#pragma once

#include "pleat/saxs/analysis/analysis.h"

namespace pleat::saxs {

/// Computes all features of a curve with a valid Guinier range. `concentration` in mg/ml, if the
/// intensities are in 1/cm.
CurveFeatures curve_features(const CurveAnalysis& analysis, std::optional<double> concentration);

}  // namespace pleat::saxs
