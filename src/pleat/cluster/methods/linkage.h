// Linkage: trees of clusters by single, complete, average and Ward's distance, and cutting them.
#pragma once

#include <filesystem>
#include <vector>

#include "pleat/cluster/cluster.h"

namespace pleat::cluster {

/// The tree over `count` items, merges in the order of their heights. `method` is single, complete,
/// average or ward. `condensed` is overwritten: distances between clusters replace those between
/// items, as float32; Ward's is that of Lance and Williams on squares. Single linkage uses Prim's
/// tree, the others chains of nearest neighbours (Muellner 2011), M^2 steps each. Of equal
/// distances the lower index is taken. Throws Cancelled.
std::vector<Merge> link(Method method, Index count, std::vector<float> condensed,
                        const Context& context);

/// The tree without its last merges, so that `clusters` are left.
Clustering cut_to(const std::vector<Merge>& tree, Index count, Index clusters);
/// Only merges below the cutoff; both are compared as float32, in which heights are stored.
Clustering cut_below(const std::vector<Merge>& tree, Index count, double cutoff);

/// Writes the tree as Newick. Leaves are item numbers from 0; the path between two leaves is as
/// long as the height at which they meet. Throws OutputError.
void write_newick(const std::filesystem::path& path, const std::vector<Merge>& tree, Index count);

}  // namespace pleat::cluster
