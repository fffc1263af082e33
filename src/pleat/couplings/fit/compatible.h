// Compatible: the optimiser and the stop of CCMpred's program, for those who compare.
#pragma once

#include "pleat/core/context.h"
#include "pleat/couplings/kernel/kernel.h"

namespace pleat::couplings {

/// Fits like CCMpred's program from `start`: its conjugate gradients, line search and stop, on the
/// plain objective with pairs counted twice in inner products (Problem::pair_metric 2, not scaled).
/// Ends after `iterations` at the latest (that program's own limit is 250). Fills the objective,
/// gap and counts of `result` and returns the vector of the point. `start`: see set_start().
int fit_compatible(const Problem& problem, const Model& start, std::int64_t iterations,
                   const Context& context, Kernel& kernel, Result& result);

}  // namespace pleat::couplings
