// Memory estimate: what a fit needs on the host and on a GPU, and the check before it.
#pragma once

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/context.h"
#include "pleat/core/estimate.h"
#include "pleat/couplings/couplings.h"

namespace pleat::couplings {

/// Steps in the L-BFGS history if memory suffices; they determine the number of vectors.
constexpr int kHistory = 4;

/// Reports needed and available memory. Returns the longest history, up to kHistory, that fits, and
/// reports if it is shorter. Throws DeviceError if a history of 1 does not fit, with the number of
/// columns that would fit, and if the context's GPU is missing.
int check_memory(const Alignment& alignment, const Parameters& parameters, const Context& context);

/// Resources for reading an alignment of this size, run(), and writing the results. The time is
/// within a factor of three, as the number of iterations varies.
Estimate estimate(Index sequences, Index columns, int letters, const Parameters& parameters,
                  const Context& context);

}  // namespace pleat::couplings
