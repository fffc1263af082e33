// Weighted run: pairs of weighted counts, or of rows without gaps, which integers do not cover.
#pragma once

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/context.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

/// Fills the pairs, and the weights where they are asked for, of a result whose columns are there.
void run_weighted(const Alignment& alignment, const Parameters& parameters, const Context& context,
                  Result& result);

}  // namespace pleat::mutual_information
