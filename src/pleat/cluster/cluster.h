// Cluster: groups of items by their distances alone, whatever these measure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pleat/cluster/clustering.h"
#include "pleat/cluster/describe.h"
#include "pleat/cluster/distances/distances.h"
#include "pleat/cluster/distances/pair_summary.h"
#include "pleat/cluster/methods/density_peaks.h"
#include "pleat/cluster/methods/linkage.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"

#pragma GCC visibility push(default)

namespace pleat::cluster {

/// The options; fields() describes each.
struct Parameters {
    std::string method = "daura";
    std::string cutoff;  ///< "", a number, or first:last:step
    std::string k;       ///< "", a number, or first:last[:step]
    std::int64_t least_neighbours = 4;
    double bin = 0.05;
    bool silhouettes = false;
};
std::vector<Field> fields(Parameters& parameters);

/// One value of a sweep.
struct SweepPoint {
    double value = 0;  ///< of the cut-off or k, whichever is swept
    Index clusters = 0, largest = 0, noise = 0;
    double silhouette = 0;  ///< mean over all items; NaN where there are fewer than two clusters
};

struct Result {
    PairSummary pairs;
    Clustering clustering;
    std::vector<Description> clusters;
    double silhouette;              ///< mean over items; NaN where it was not computed
    double cutoff;                  ///< that was taken; NaN for methods without one
    std::vector<SweepPoint> sweep;  ///< empty unless asked for
    std::vector<Merge> tree;        ///< of linkage
    std::vector<Peak> peaks;        ///< of density peaks
};

/// Clusters `distances`, of which there is at least one item. Of a sweep the value of the largest
/// mean silhouette is taken, the first of equals. UsageError (options that the method needs or does
/// not have, k above the number of items), DeviceError (memory), Cancelled.
Result run(const Distances& distances, const Parameters& parameters, const Context& context);

/// What run() refuses of the options alone.
void check_options(const Parameters& parameters);

}  // namespace pleat::cluster

#pragma GCC visibility pop
