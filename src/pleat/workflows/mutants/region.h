// Region: residues of a target that a text names.
#pragma once

#include <string_view>
#include <vector>

#include "pleat/workflows/mutants/target.h"

namespace pleat::mutants {

/// Columns of the model, ascending, of the residues that a text names by their numbers: "20-45,50"
/// or "all". Residues without a column are left out. Throws UsageError for another text, and if
/// fewer than 2 columns are left.
std::vector<Index> columns_of_region(std::string_view text, const Target& target);

}  // namespace pleat::mutants
