// Convergence: whether several Monte Carlo chains sample the same distribution, and how much.
#pragma once

#include "pleat/core/view.h"
#include "pleat/workflows/refine/refine.h"

namespace pleat::refine {

/// Rank-normalised split R-hat (the larger of that of the draws and of their distances from the
/// median) and bulk effective sample size of `draws` [chain, draw]: Vehtari, Gelman, Simpson,
/// Carpenter, Buerkner, Bayesian Analysis 16:667 (2021). Chains of fewer than
/// Convergence::kMinDraws draws cannot be judged: R-hat is infinite and the size 0. Draws that are
/// all equal have converged.
Convergence assess_convergence(View<const double, 2> draws);

/// Of `values` [island, particle] of independent islands: R-hat of four groups of islands, and
/// the variance of all values divided by that of the islands' means, times the islands. At least 4
/// islands; fewer than Convergence::kMinDraws particles cannot be judged.
Convergence assess_islands(View<const double, 2> values);

}  // namespace pleat::refine
