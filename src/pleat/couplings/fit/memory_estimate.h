// Memory estimate: what a fit needs on the host and on a GPU, and the check before it.
#pragma once

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/context.h"
#include "pleat/core/estimate.h"
#include "pleat/couplings/couplings.h"

namespace pleat::couplings {

/// Steps that L-BFGS remembers if there is enough memory; they determine the number of vectors.
constexpr int kHistory = 4;

/// Reports what the fit needs and what is available. Returns the longest history, up to kHistory,
/// for which memory suffices, and reports if it is shorter. Throws DeviceError if memory does not
/// suffice for a history of 1, with the number of columns for which it would, and if the GPU of the
/// context is missing.
int check_memory(const Alignment& alignment, const Parameters& parameters, const Context& context);

/// What reading an alignment of this size, run(), and writing the results need. The time is right
/// to a factor of three, since it depends on the number of iterations.
Estimate estimate(Index sequences, Index columns, int letters, const Parameters& parameters,
                  const Context& context);

}  // namespace pleat::couplings
