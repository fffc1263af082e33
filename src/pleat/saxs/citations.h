// Citations: what scattering profiles rest on.
#pragma once

#include <vector>

#include "pleat/core/run/run_directory.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

/// The works behind what a run with this result computed.
std::vector<Citation> citations(const Result& result);

}  // namespace pleat::saxs
