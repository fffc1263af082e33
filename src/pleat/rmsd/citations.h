// Citations: what superposed distances rest on.
#pragma once

#include <string_view>
#include <vector>

#include "pleat/core/run/run_directory.h"

namespace pleat::rmsd {

/// The works behind what a run computes by a metric.
std::vector<Citation> citations(std::string_view metric = "rmsd");

}  // namespace pleat::rmsd
