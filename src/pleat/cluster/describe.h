// Describe: the medoid, spread and silhouette of clusters, whatever method found them.
#pragma once

#include <limits>
#include <vector>

#include "pleat/cluster/clustering.h"
#include "pleat/cluster/distances/distances.h"
#include "pleat/core/context.h"

#pragma GCC visibility push(default)

namespace pleat::cluster {

struct Description {
    Index size = 0;
    Index medoid = 0;  ///< the member of the least mean distance to the others, the first of equals
    double mean = 0;   ///< of the other members' distances to it; 0 where there is none
    double radius = 0;                                             ///< the largest of them
    double silhouette = std::numeric_limits<double>::quiet_NaN();  ///< mean of members, if computed
};

/// One a cluster. Pairs within clusters are visited once. Cancelled.
std::vector<Description> describe(const Distances& distances, const Clustering& clustering,
                                  const Context& context);

/// Rousseeuw, Journal of Computational and Applied Mathematics 20:53 (1987): (b - a) / max(a, b),
/// where a is an item's mean distance to the others of its cluster and b the least mean distance to
/// another cluster; 0 for an only member and where both are 0. NaN for noise, and for all where
/// there are fewer than two clusters. Every pair is visited twice. Cancelled.
std::vector<double> silhouettes(const Distances& distances, const Clustering& clustering,
                                const Context& context);

/// The mean over items that have one; NaN where none has.
double mean_silhouette(const std::vector<double>& silhouettes);

/// Sets the mean silhouette of each cluster.
void add_silhouettes(const std::vector<double>& silhouettes, const Clustering& clustering,
                     std::vector<Description>& clusters);

}  // namespace pleat::cluster

#pragma GCC visibility pop
