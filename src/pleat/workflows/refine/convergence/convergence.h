// Convergence: whether several Monte Carlo chains sample the same distribution, and how much.
#pragma once

#include <span>

#include "pleat/core/view.h"
#include "pleat/workflows/refine/refine.h"

namespace pleat::refine {

/// Rank-normalised split R-hat (the larger of that of the draws and of their distances from the
/// median) and bulk effective sample size of `draws` [chain, draw]: Vehtari, Gelman, Simpson,
/// Carpenter, Buerkner, Bayesian Analysis 16:667 (2021). Chains of fewer than
/// Convergence::kMinDraws draws cannot be judged: R-hat is infinite and the size 0. Draws that are
/// all equal have converged.
Convergence assess_convergence(View<const double, 2> draws);

/// Of conformations whose lineages, numbered from 0 to `count` - 1, share nothing but their
/// resampling: the effective size is the variance of all values divided by that of their mean,
/// which is sum w^2 (m - mean)^2 over lineages with share w and mean m (Lee, Whiteley, Biometrika
/// 105:609, 2018); R-hat is the deviation of all values divided by that within four groups of
/// lineages. Fewer than 4 kMinDraws values cannot be judged.
Convergence assess_lineages(std::span<const double> values, std::span<const Index> lineages,
                            Index count);

/// The standard error of the logarithm of the evidence, from the shares of the lineages (ibid.).
double evidence_error(std::span<const Index> lineages, Index count);

}  // namespace pleat::refine
