// Residuals: whether what a fit leaves of a curve is noise.
#pragma once

#include <span>

namespace pleat::saxs {

/// The probability that noise has as few runs of one sign as these residuals, by the normal
/// approximation of Wald and Wolfowitz (1940); 0 if all of two or more have one sign, 1 for fewer
/// residuals. It does not depend on the size of errors.
double few_runs_probability(std::span<const double> residuals);

}  // namespace pleat::saxs
