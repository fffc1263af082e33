// CPU pair run: pairs that the CPU alone counts, in float64: weighted counts, and rows without
// gaps.
#pragma once

#include <string>

#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

/// Sets the result's pairs and, with weights, the weights. `problem_hash` is of the input and all
/// options that decide, for the checkpoint. Throws UsageError on a device other than the CPU, and
/// Cancelled.
void run_cpu_pairs(const Alignment& alignment, const Columns& columns, const Parameters& parameters,
                   const std::string& problem_hash, const Context& context, Result& result);

}  // namespace pleat::mutual_information
