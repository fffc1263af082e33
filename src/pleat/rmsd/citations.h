// Citations: the papers behind the metrics.
#pragma once

#include <vector>

#include "pleat/core/run/run_directory.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

/// The papers behind what a run computes by a metric.
std::vector<Citation> citations(Metric metric = Metric::rmsd);

}  // namespace pleat::rmsd
