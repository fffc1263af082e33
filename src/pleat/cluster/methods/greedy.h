// Greedy clusters: the item with most neighbours and these are a cluster, again and again.
#pragma once

#include "pleat/cluster/clustering.h"
#include "pleat/cluster/distances/neighbours.h"

namespace pleat::cluster {

/// Daura et al., Angewandte Chemie 111:249 (1999): the item with most neighbours left (the lowest
/// index of equals) and its neighbours are a cluster and leave the pool, until the pool is empty.
/// `centres` are these items. Cancelled.
Clustering daura(const Neighbours& neighbours, const Context& context);

/// As `gmx cluster -method gromos` of GROMACS does it: items that were assigned leave the lists of
/// the others but keep a list of their own, and may found a further cluster of what is left in it;
/// the order of equals is that of std::sort by number alone, sorted anew for each cluster. A centre
/// need not be of its cluster, and none is told. Cancelled.
Clustering gromacs(const Neighbours& neighbours, const Context& context);

}  // namespace pleat::cluster
