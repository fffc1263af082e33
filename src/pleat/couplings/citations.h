// Citations: the works that a run of the couplings engine rests on.
#pragma once

#include <vector>

#include "pleat/core/run/run_directory.h"
#include "pleat/couplings/couplings.h"

namespace pleat::couplings {

/// The objective and its scores, the pseudolikelihood, and the correction where it is made.
std::vector<Citation> citations(const Parameters& parameters);

}  // namespace pleat::couplings
