// Memory estimate: the bytes that a fit needs on the host and on a GPU, and the check before it.
#pragma once

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/context.h"
#include "pleat/couplings/couplings.h"

namespace pleat::couplings {

/// Steps that L-BFGS remembers if there is enough memory; they determine the number of vectors.
constexpr int kHistory = 4;

/// Reports what the fit needs and what is available. Returns the longest history, up to kHistory,
/// for which memory suffices, and reports if it is shorter. Throws DeviceError if memory does not
/// suffice for a history of 1, with the number of columns for which it would, and if the GPU of the
/// context is missing.
int check_memory(const Alignment& alignment, const Parameters& parameters, const Context& context);

/// Upper bounds of the bytes that a fit needs.
struct MemoryDemand {
    std::int64_t host = 0;
    std::int64_t gpu = 0;      ///< 0 unless the context's device is a GPU
    std::int64_t min_gpu = 0;  ///< the same with the columns in the smallest blocks
};
MemoryDemand memory_demand(const Alignment& alignment, const Parameters& parameters,
                           const Context& context);

}  // namespace pleat::couplings
