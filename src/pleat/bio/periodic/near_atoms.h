// Near atoms: pairs of atoms at short distances under periodic images, found in bins.
#pragma once

#include <functional>
#include <vector>

#include "pleat/bio/periodic/periodic_cell.h"
#include "pleat/core/view.h"

namespace pleat {

/// Calls `visit` with (i, j, distance) for each i of `from` and each other j of `to` within
/// `cutoff` angstrom of it, in the order of `from`. Both are indices into `positions`, each of them
/// finite. Distances are those of nearest images if the cell exists.
void for_each_near_pair(const std::vector<Point>& positions, const PeriodicCell& cell,
                        const std::vector<Index>& from, const std::vector<Index>& to, double cutoff,
                        const std::function<void(Index, Index, double)>& visit);

}  // namespace pleat
