// Citations: what superposed distances rest on.
#pragma once

#include <vector>

#include "pleat/core/run_directory.h"

namespace pleat::rmsd {

/// The works behind what a run computes.
std::vector<Citation> citations();

}  // namespace pleat::rmsd
