// Compatible: the fields that a fit starts from, and the optimiser and the stop rule of the program
// CCMpred, for comparisons.
#pragma once

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/couplings/kernel/kernel.h"

namespace pleat::couplings {

/// e_i(a) = ln(c_a + 1) - ln(c_gap + 1) from unweighted counts c; [column, letter], 0 for the gap
/// (Seemayer et al. 2014).
Array<float, 2> independent_fields(const Alignment& alignment, int threads);

/// Fits from `start` (see set_start()) with CCMpred's conjugate gradients, line search and stopping
/// rule, on the unscaled objective with pairs counted twice in inner products (Problem::pair_metric
/// 2). Makes at most `max_iterations`, or CCMpred's limit of 250. Sets objective, gap and counts of
/// `result` and returns the number of the final vector.
int fit_compatible(const Problem& problem, const Model& start, std::int64_t max_iterations,
                   const Context& context, Kernel& kernel, Result& result);

}  // namespace pleat::couplings
