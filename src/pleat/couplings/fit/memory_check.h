// Whether a fit has the memory that it needs, on the host and on the GPU.
#pragma once

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/context.h"
#include "pleat/couplings/couplings.h"

namespace pleat::couplings {

/// The minimiser's history where memory allows it; with the points it works on it makes the number
/// of slots.
constexpr int kHistory = 4;

/// Says what the fit needs and what there is. Returns the longest history, up to kHistory, with
/// which the fit fits, and says so where it is shorter. Throws DeviceError when not even a history
/// of 1 fits, with the number of columns that would, or when the named GPU is absent.
int check_memory(const Alignment& alignment, const Parameters& parameters, const Context& context);

/// Bytes that a fit takes beyond its alignment.
struct MemoryDemand {
    std::int64_t host = 0;
    std::int64_t gpu = 0;        ///< 0 where the context's device is none
    std::int64_t least_gpu = 0;  ///< where the columns are worked on in blocks
};
MemoryDemand memory_demand(const Alignment& alignment, const Parameters& parameters,
                           const Context& context);

}  // namespace pleat::couplings
