// Device choice: whether there is work for a GPU.
#pragma once

#include <cstdint>
#include <optional>

#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

/// Whether there is: shuffles with plain counts.
bool has_gpu_work(const Parameters& parameters);

/// Bytes of a GPU's memory that run() takes where no device was named; nothing where there is no
/// work for one. UsageError, InputError as run() says.
std::optional<std::int64_t> gpu_demand(const Alignment& alignment, const Parameters& parameters,
                                       int threads);

}  // namespace pleat::mutual_information
