// Citations: the papers behind each method of clustering.
#pragma once

#include <string_view>
#include <vector>

#include "pleat/core/run/run_directory.h"

namespace pleat::cluster {

/// Those of a method, and that of silhouettes where they were computed.
std::vector<Citation> citations(std::string_view method, bool silhouettes);

}  // namespace pleat::cluster
