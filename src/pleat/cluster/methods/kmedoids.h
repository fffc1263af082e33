// k-medoids: the k items to which all others are nearest in sum, found by swapping single medoids.
#pragma once

#include "pleat/cluster/cluster.h"

namespace pleat::cluster {

struct Medoids {
    Clustering clustering;  ///< centres are the medoids; of equally near ones the lower index
    double cost = 0;        ///< sum of the distances of all items to their medoid
    Index swaps = 0;
};

/// Bytes that k_medoids() needs.
std::int64_t medoid_bytes(Index count, Index clusters);
/// Throws DeviceError if k_medoids() would not fit into memory.
void require_medoids(Index count, Index clusters);

/// FasterPAM (Schubert, Rousseeuw, Information Systems 101:101804, 2021): starts from `clusters`
/// items drawn by Context::seed; each item in turn replaces the medoid for which the cost falls
/// most, if it falls, until a whole round changes nothing. Needs memory for k M numbers, and
/// computes one row of distances per item and round; ranks share the rows. Resumes from
/// `context.checkpoint`. Throws Cancelled.
Medoids k_medoids(const PairSource& distances, Index clusters, const Context& context);

}  // namespace pleat::cluster
