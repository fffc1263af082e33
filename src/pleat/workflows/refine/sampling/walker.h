// Walker: the replicas of a chain at one rung, which move together.
#pragma once

#include <memory>
#include <vector>

#include "pleat/workflows/refine/sampling/sampler.h"
#include "pleat/workflows/refine/sampling/steps_ahead.h"

namespace pleat::refine {

/// The replicas of a chain at one rung. Rungs are exchanged, not conformations. One rank moves the
/// replicas; what all ranks know of them is renewed after each round.
struct Walker {
    std::vector<Sampler> replicas;             ///< empty on other ranks
    std::vector<std::vector<Sampler>> copies;  ///< of the replicas, for other threads
    std::unique_ptr<StepsAhead> ahead;         ///< if there are copies
    Index rung = 0;
    bool comes_from_prior = false;  ///< since it was last at power 1
    MoveSettings settings;
    MoveCounts counts;  ///< of all replicas
    double log_likelihood = 0;
    std::vector<double> angles;  ///< [replica, hinge]

    Target& target() const { return replicas.front().target(); }
    void set_beta(double beta) {
        for (Sampler& replica : replicas) replica.target().set_beta(beta);
    }
    /// Gives settings and counts to the replicas; the first one has the counts.
    void set_replicas() {
        for (Sampler& replica : replicas) {
            replica.settings = settings;
            replica.counts = {};
        }
        if (!replicas.empty()) replicas.front().counts = counts;
    }
    /// Moves the counts of all replicas and their copies to the first.
    void add_counts() {
        MoveCounts& sum = replicas.front().counts;
        for (std::size_t n = 1; n < replicas.size(); ++n) sum.take(replicas[n].counts);
        if (ahead) ahead->take_counts(sum);
    }
    /// Sampler::refresh(), and computes what copies adopt.
    void refresh() {
        for (Sampler& replica : replicas) replica.refresh();
        target().log_likelihood();
    }
};

}  // namespace pleat::refine
