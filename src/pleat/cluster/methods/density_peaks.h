// Density peaks: centres are dense and far from anything denser; others follow their denser
// neighbour.
#pragma once

#include <vector>

#include "pleat/cluster/clustering.h"
#include "pleat/cluster/distances/distances.h"
#include "pleat/core/context.h"

#pragma GCC visibility push(default)

namespace pleat::cluster {

/// An item in the decision graph.
struct Peak {
    std::int32_t density = 0;  ///< other items below the cut-off
    Index denser = -1;         ///< the nearest item of higher density; -1 for the densest
    float separation = 0;      ///< distance to it; for the densest that to the farthest item
};

/// Rodriguez, Laio, Science 344:1492 (2014). Of items of equal density the earlier one is the
/// denser, and of equally near ones the earlier counts. `degrees` are of Neighbours. A pass over
/// all pairs.
std::vector<Peak> find_peaks(const Distances& distances, const std::vector<std::int32_t>& degrees);

/// The `clusters` items of the largest density times separation (the earlier of equals) are
/// centres; all others belong to the cluster of their `denser`. The densest is always among the
/// centres.
Clustering density_peaks(const std::vector<Peak>& peaks, Index clusters);

}  // namespace pleat::cluster

#pragma GCC visibility pop
