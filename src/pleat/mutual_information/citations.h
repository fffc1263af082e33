// Citations: the papers behind a result of mutual information.
#pragma once

#include <vector>

#include "pleat/core/run/run_directory.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

/// The papers to cite for a run with these parameters.
std::vector<Citation> citations(const Parameters& parameters);

}  // namespace pleat::mutual_information
