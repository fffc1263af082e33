// Clustering: which cluster each item belongs to, and which of its items a method chose for it.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat::cluster {

inline constexpr std::int32_t kNoise = -1;

struct Clustering {
    std::vector<std::int32_t> assignment;  ///< of each item: 0 = the largest cluster; or kNoise
    std::vector<Index> centres;  ///< of each cluster, where the method has one; else empty

    Index cluster_count() const;
    /// The items of each cluster, ascending.
    std::vector<std::vector<Index>> members() const;
};

/// Numbers clusters by their size, the largest first, of equal ones that with the lowest item
/// first.
void number_by_size(Clustering& clustering);

}  // namespace pleat::cluster

#pragma GCC visibility pop
