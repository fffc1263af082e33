// Trials: which values of the cutoff or of k a clustering tries, checked against its method.
#pragma once

#include <vector>

#include "pleat/cluster/cluster.h"

namespace pleat::cluster {

enum class MethodFamily { greedy, dbscan, tree, medoids, peaks, rounds, shared };

struct Trials {
    MethodFamily family = MethodFamily::greedy;
    std::vector<double> cutoffs, counts;
    /// Whether the nearest items are neighbours, with or without a cutoff. Without one `cutoffs`
    /// has a value that is not used.
    bool uses_nearest = false, has_cutoff = true;

    bool has_several() const { return cutoffs.size() > 1 || counts.size() > 1; }
    /// Whether the cutoff varies; else k does.
    bool by_cutoff() const { return counts.size() <= 1 && !cutoffs.empty(); }
    /// Iterated density has one trial, whose value means nothing.
    std::vector<double> values() const {
        if (family == MethodFamily::rounds) return {0};
        return by_cutoff() ? cutoffs : counts;
    }
};

/// Throws UsageError if the options lack what the method needs, or have what it does not know.
Trials trials_of(const Parameters& parameters);

}  // namespace pleat::cluster
