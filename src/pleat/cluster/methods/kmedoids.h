// k-medoids: the k items to which all others are nearest in sum, as swaps of one can make it.
#pragma once

#include <cstdint>

#include "pleat/cluster/clustering.h"
#include "pleat/cluster/distances/distances.h"
#include "pleat/core/context.h"

namespace pleat::cluster {

struct Medoids {
    Clustering clustering;  ///< centres are the medoids; of equally near ones the lower index
    double cost = 0;        ///< sum of the distances of all items to their medoid
    Index swaps = 0;
};

/// DeviceError where k_medoids() would not fit into memory.
void require_medoids(Index count, Index clusters);

/// FasterPAM (Schubert, Rousseeuw, Information Systems 101:101804, 2021): from `clusters` items
/// drawn by Context::seed, each item in turn takes the place of the medoid for which the cost falls
/// most, where it falls, until a whole round changes nothing. k M numbers in memory; a row of
/// distances an item and round. Cancelled.
Medoids k_medoids(const Distances& distances, Index clusters, const Context& context);

}  // namespace pleat::cluster
