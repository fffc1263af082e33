// Plan: what the options ask of a method, read and checked.
#pragma once

#include <vector>

#include "pleat/cluster/cluster.h"

namespace pleat::cluster {

enum class Family { greedy, dbscan, tree, medoids, peaks };

/// What is tried: values of k or of the cut-off.
struct Plan {
    Family family = Family::greedy;
    std::vector<double> cutoffs, counts;

    bool sweeps() const { return cutoffs.size() > 1 || counts.size() > 1; }
};

/// UsageError for options that the method needs and has not, or does not have.
Plan plan_of(const Parameters& parameters);
/// UsageError for more clusters than items.
void check_counts(const Plan& plan, Index items);

}  // namespace pleat::cluster
