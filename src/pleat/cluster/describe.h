// Describe: the medoid, spread and silhouette of clusters, whatever method found them.
#pragma once

#include <vector>

#include "pleat/cluster/cluster.h"

namespace pleat::cluster {

/// One description per cluster; ranks share the clusters. Throws Cancelled.
std::vector<ClusterDescription> describe(const PairSource& distances, const Clustering& clustering,
                                         const Context& context);

/// Descriptions by the distances of all items to the centres of their clusters, [item].
std::vector<ClusterDescription> describe_by_centres(const Clustering& clustering,
                                                    const std::vector<float>& distances);

/// Rousseeuw, Journal of Computational and Applied Mathematics 20:53 (1987): (b - a) / max(a, b),
/// where a is an item's mean distance to the others in its cluster and b the minimum mean distance
/// to another cluster; 0 for an only member and if both are 0. NaN for noise, and for all if there
/// are fewer than two clusters. Visits each pair twice; ranks share the items. Throws Cancelled.
std::vector<double> silhouettes(const PairSource& distances, const Clustering& clustering,
                                const Context& context);

/// The mean over items that have a silhouette; NaN if none has.
double mean_silhouette(const std::vector<double>& silhouettes);

/// Sets the mean silhouette of each cluster.
void add_silhouettes(const std::vector<double>& silhouettes, const Clustering& clustering,
                     std::vector<ClusterDescription>& clusters);

}  // namespace pleat::cluster
