// Profile batch: profiles of conformations and of their proposals, computed together.
#pragma once

#include <optional>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/saxs/session/profile_session.h"
#include "pleat/workflows/refine/fit/profile_model.h"

namespace pleat::refine {

/// Conformations whose proposals are computed in one call of a ProfileSession: several on a GPU,
/// which one alone would not fill. Not thread-safe.
class ProfileBatch {
public:
    /// The model must outlive it.
    ProfileBatch(const ProfileModel& model, Index conformations, const Device& device);

    /// Sets a conformation's state. All must be set before the first profile.
    void start(Index conformation, const Conformation& at);
    /// Notes a proposal, which the next call of proposed_profile() computes together with all
    /// others that were noted.
    void propose(Index conformation, const Conformation& proposed);
    /// Partial profiles [channel pair, q]; valid until the next call that computes.
    View<const double, 2> proposed_profile(Index conformation);
    View<const double, 2> profile(Index conformation);
    void accept(Index conformation);
    void reject(Index conformation);
    /// Computes a conformation's profile again from its positions.
    void refresh(Index conformation);

private:
    /// A noted proposal.
    struct Proposal {
        std::vector<Index> moved;  ///< scatterers
        Array<float, 2> xyz;       ///< [axis, index into `moved`]
        Index in_call = -1;        ///< its number in the last call; -1: nothing moved
        bool is_noted = false;
    };
    saxs::ProfileSession& session();
    void compute();

    const ProfileModel* model_;
    Context context_;
    Array<float, 3> xyz_;              ///< [conformation, axis, scatterer], accepted
    Array<float, 3> proposed_;         ///< the same, proposed
    std::vector<Proposal> proposals_;  ///< [conformation]
    std::optional<saxs::ProfileSession> session_;
    View<const double, 3> computed_;
};

}  // namespace pleat::refine
