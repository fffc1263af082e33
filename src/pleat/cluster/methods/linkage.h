// Linkage: trees of clusters by single, complete, average and Ward's distance, and cutting them.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "pleat/cluster/clustering.h"
#include "pleat/core/context.h"

#pragma GCC visibility push(default)

namespace pleat::cluster {

/// Two nodes become one. Nodes below the number of items are items; node count + n is merge n.
struct Merge {
    std::int32_t first = 0, second = 0;  ///< first < second
    double height = 0;                   ///< their distance
    std::int32_t size = 0;               ///< items below
};

enum class Linkage { single, complete, average, ward };
/// UsageError for another word.
Linkage linkage_of(std::string_view name);

/// The tree over `count` items, merges in the order of their height. `condensed` is used up:
/// distances between clusters take the place of those between items, as float32; Ward's is the one
/// of Lance and Williams on squares. Single by Prim's tree, the others by chains of nearest
/// neighbours (Muellner 2011), M^2 steps each. Of equal distances the lower index is taken.
/// Cancelled.
std::vector<Merge> link(Linkage linkage, Index count, std::vector<float> condensed,
                        const Context& context);

/// The tree without its last merges, so that `clusters` are left.
Clustering cut_to(const std::vector<Merge>& tree, Index count, Index clusters);
/// Only merges below the cut-off, both as float32, in which heights are kept.
Clustering cut_below(const std::vector<Merge>& tree, Index count, double cutoff);

/// The tree as Newick; leaves are the items' numbers from 0, and the way between two leaves is as
/// long as the height at which they meet. OutputError.
void write_newick(const std::filesystem::path& path, const std::vector<Merge>& tree, Index count);

}  // namespace pleat::cluster

#pragma GCC visibility pop
