// DBSCAN: clusters as dense regions that neighbours connect, and noise between them.
#pragma once

#include "pleat/cluster/cluster.h"
#include "pleat/cluster/neighbours/neighbours.h"

namespace pleat::cluster {

/// Ester, Kriegel, Sander, Xu, Proceedings of KDD 226 (1996): items with at least `min_neighbours`
/// neighbours (including themselves) are cores; cores that are neighbours share a cluster; another
/// neighbour of cores belongs to the cluster, among theirs, whose lowest core comes first; all
/// other items are noise. Throws Cancelled.
Clustering dbscan(const Neighbours& neighbours, std::int64_t min_neighbours,
                  const Context& context);

}  // namespace pleat::cluster
