// Citations: the papers behind each method of clustering.
#pragma once

#include <vector>

#include "pleat/cluster/cluster.h"
#include "pleat/core/run/run_directory.h"

namespace pleat::cluster {

/// The papers of a method, and that of silhouettes if they were computed.
std::vector<Citation> citations(Method method, bool silhouettes);

}  // namespace pleat::cluster
