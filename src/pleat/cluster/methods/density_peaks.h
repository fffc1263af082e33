// Density peaks: centres are dense and far from anything denser; other items follow their denser
// neighbour.
#pragma once

#include <vector>

#include "pleat/cluster/cluster.h"

namespace pleat::cluster {

/// The decision graph of Rodriguez and Laio, Science 344:1492 (2014). Of items of equal density the
/// earlier one counts as denser, and of equally near ones the earlier is taken. `degrees` are those
/// of Neighbours. Visits all pairs once; ranks share them. Throws Cancelled.
std::vector<Peak> find_peaks(const PairSource& distances, const std::vector<std::int32_t>& degrees,
                             const Context& context);

/// The `clusters` items with the largest product of density and separation (the earlier of equals)
/// are centres; each other item belongs to the cluster of its `nearest_denser` item. The densest
/// item is always a centre.
Clustering density_peaks(const std::vector<Peak>& peaks, Index clusters);

}  // namespace pleat::cluster
