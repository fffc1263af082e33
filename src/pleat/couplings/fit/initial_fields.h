// Initial fields: the fields that a fit starts from, those of independent columns.
#pragma once

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/array.h"

namespace pleat::couplings {

/// e_i(a) = ln(c_a + 1) - ln(c_gap + 1) from unweighted counts c; [column, letter], 0 for the gap
/// (Seemayer et al. 2014).
Array<float, 2> independent_fields(const Alignment& alignment, int threads);

}  // namespace pleat::couplings
