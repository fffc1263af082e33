// Region: residues of a target that a text names.
#pragma once

#include <string_view>
#include <vector>

#include "pleat/core/notes.h"
#include "pleat/workflows/mutants/target.h"

namespace pleat::mutants {

/// Returns the ascending columns of the model for residues given by number: "20-45,50" or "all".
/// Residues of a range without a column are left out, and `notes` says which are kept. Throws
/// UsageError for other text, a range without any column, and fewer than 2 columns.
std::vector<Index> columns_of_region(std::string_view text, const Target& target, Notes& notes);

}  // namespace pleat::mutants
