// Replica mean: the mean profile of replicas, which are compared with a curve together.
#pragma once

#include <vector>

#include "pleat/core/array.h"
#include "pleat/workflows/refine/fit/curve_likelihood.h"

namespace pleat::refine {

/// The profiles of R replicas. Their weight is L(mean profile)^R, so that each replica counts as
/// much as one that is compared alone; R = 1 is such a one. A move of a replica changes the mean by
/// 1 / R of the change of its profile.
class ReplicaMean {
public:
    /// The likelihood must outlive it.
    ReplicaMean(const CurveLikelihood& likelihood, Index replicas);

    Index replicas() const { return static_cast<Index>(profiles_.size()); }
    /// Sets the profile [channel pair, q] of a replica.
    void set(Index replica, View<const double, 2> profile);
    /// ln L of the mean with the profile of one replica replaced.
    double propose(Index replica, View<const double, 2> profile);
    /// Makes the last proposal, of this replica, the state.
    void accept(Index replica);
    /// Takes over the profile of a replica and the mean of another, whose ln L has been computed.
    void adopt(Index replica, const ReplicaMean& from);
    /// ln L of the mean. All replicas must be set.
    double log_likelihood();
    CurveFit fit();
    ResidualTest residual_test();

private:
    /// The mean from all profiles in their order.
    void add_up();

    const CurveLikelihood* likelihood_;
    std::vector<Array<double, 2>> profiles_;  ///< [replica][channel pair, q]
    Array<double, 2> mean_, proposed_mean_, proposed_;
    double log_likelihood_ = 0, proposed_log_likelihood_ = 0;
    bool is_stale_ = true;
};

}  // namespace pleat::refine
