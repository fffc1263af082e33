// DBSCAN: clusters as dense regions that neighbours connect, and noise between them.
#pragma once

#include "pleat/cluster/clustering.h"
#include "pleat/cluster/distances/neighbours.h"

namespace pleat::cluster {

/// Ester, Kriegel, Sander, Xu, Proceedings of KDD 226 (1996): items of at least `least_neighbours`
/// (themselves among them) are cores; cores that are neighbours are of one cluster; other
/// neighbours of a core belong to that cluster of these whose lowest core comes first; what is left
/// is noise. Cancelled.
Clustering dbscan(const Neighbours& neighbours, std::int64_t least_neighbours,
                  const Context& context);

}  // namespace pleat::cluster
