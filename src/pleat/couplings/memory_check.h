// Whether a fit has the memory that it needs, on the host and on the GPU.
#pragma once

#include "pleat/bio/alignment.h"
#include "pleat/core/context.h"

namespace pleat::couplings {

/// The minimiser's history; with the points in work it makes the number of slots.
constexpr int kHistory = 4;

/// Says what the fit needs and what there is. Throws DeviceError when it does not fit, with the
/// number of columns that would, or when the named GPU is absent.
void check_memory(const Alignment& alignment, const Context& context);

}  // namespace pleat::couplings
