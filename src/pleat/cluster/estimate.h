// Estimate: the memory and the time of clustering, besides those of the distances.
#pragma once

#include "pleat/cluster/cluster.h"
#include "pleat/core/estimate.h"

namespace pleat::cluster {

/// Maximum size in bytes of all pairs that are stored after the first pass, so that later passes
/// need not recompute them.
inline constexpr std::int64_t kKeptBytes = std::int64_t{256} << 20;

/// Whether the first pass keeps the pairs of this many items. `is_stored`: their source has them.
bool keeps_pairs(Index items, bool is_stored);

/// Where distances come from.
struct DistanceCost {
    bool is_stored = false;   ///< as in a matrix
    bool reduces = false;     ///< a GPU finds the clusters: see PairReductions
    double pair_seconds = 0;  ///< of one pair, on all threads or on the device
};

/// Memory that run() needs, and the time of all passes over the distances. Throws UsageError as
/// run().
Estimate estimate(Index items, const DistanceCost& distances, const Parameters& parameters,
                  const Context& context);

/// The number of items of a matrix, without a look at its values. Throws as open_matrix().
Index matrix_items(const std::filesystem::path& path);

}  // namespace pleat::cluster
