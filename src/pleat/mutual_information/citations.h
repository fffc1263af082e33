// Citations: what a result of mutual information rests on.
#pragma once

#include <vector>

#include "pleat/core/run/run_directory.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

/// The works behind what these parameters compute.
std::vector<Citation> citations(const Parameters& parameters);

}  // namespace pleat::mutual_information
