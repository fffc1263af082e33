// Jarvis-Patrick: items that are each other's neighbours and share neighbours.
#pragma once

#include "pleat/cluster/cluster.h"
#include "pleat/cluster/neighbours/nearest_lists.h"
#include "pleat/cluster/neighbours/neighbours.h"

namespace pleat::cluster {

/// Jarvis, Patrick, IEEE Transactions on Computers C-22:1025 (1973), as gmx cluster does it: two
/// items are linked if each is in the other's list of neighbours and at least `common` items are in
/// both lists; clusters are what links connect. Lists do not hold the item itself. Throws
/// Cancelled.
Clustering jarvis_patrick(const ItemLists& neighbours, std::int64_t common, const Context& context);

/// All neighbours of each item but itself. Throws DeviceError if memory is too small for them.
ItemLists lists_of(const Neighbours& neighbours);

}  // namespace pleat::cluster
