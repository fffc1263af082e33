// Iterated density: the items that are left when the ones farthest from all others are dropped.
#pragma once

#include <vector>

#include "pleat/cluster/cluster.h"

namespace pleat::cluster {

/// Drops, again and again, the `drop` share of the items left (rounded down, at least one) with the
/// largest mean distances to the others left, until `keep` are left; of equal ones the later item
/// is dropped. `max_distance`: no pair is farther apart. Sums of distances are kept as whole
/// numbers, so that they do not depend on threads and ranks; all pairs are visited once, and those
/// of dropped items a second time. Ranks share the pairs. Throws Cancelled.
std::vector<DensityRound> iterate_density(const PairSource& distances, Index keep, double drop,
                                          double max_distance, const Context& context);

/// The items left are cluster 0, with the one of the smallest mean distance as its centre; all
/// others are noise.
Clustering densest_cluster(const std::vector<DensityRound>& rounds);

}  // namespace pleat::cluster
