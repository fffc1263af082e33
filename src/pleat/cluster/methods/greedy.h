// Greedy clusters: the item with the most neighbours forms a cluster with them, again and again.
#pragma once

#include "pleat/cluster/cluster.h"
#include "pleat/cluster/neighbours/neighbours.h"

namespace pleat::cluster {

/// Daura et al., Angewandte Chemie 111:249 (1999): the item with the most neighbours left (the
/// lowest index of equals) and its neighbours are a cluster and leave the pool; this is repeated
/// until the pool is empty. `centres` are these items. If rows are computed, a stopped search
/// resumes from `context.checkpoint`. Throws Cancelled, InputError (a checkpoint of other input).
Clustering gromos(const Neighbours& neighbours, const Context& context);

/// What `gmx cluster -method gromos` of GROMACS computes: items in a cluster leave the lists of the
/// others but keep a list of their own, and may found a further cluster of what is left in it; the
/// order of equals is that of std::sort by number alone, sorted again for each cluster. A centre
/// need not be in its cluster, and none is reported. Throws Cancelled.
Clustering gmx(const Neighbours& neighbours, const Context& context);

}  // namespace pleat::cluster
