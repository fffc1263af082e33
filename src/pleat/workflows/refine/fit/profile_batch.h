// Profile batch: profiles of conformations and of their proposals, computed together.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
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
    /// Notes a proposal, which the next call of begin() or proposed_profile() computes together
    /// with all others that were noted.
    void propose(Index conformation, const Conformation& proposed);
    /// Begins to compute what was noted; on a GPU it returns before the end.
    void begin();
    /// Whether what was begun has been computed.
    bool is_ready() { return !has_begun_ || session().is_ready(); }
    /// Partial profiles [channel pair, q]; valid until the next call that computes.
    View<const double, 2> proposed_profile(Index conformation);
    View<const double, 2> profile(Index conformation);
    void accept(Index conformation);
    /// Also of a proposal that was not computed yet, for which it does not wait.
    void reject(Index conformation);
    /// Takes over the state of a conformation of another batch of the same model, of which a
    /// profile has been computed.
    void adopt(Index conformation, const ProfileBatch& from);
    /// Computes a conformation's profile again from its positions.
    void refresh(Index conformation);

private:
    /// A noted proposal.
    struct Proposal {
        std::vector<Index> moved;                              ///< scatterers
        std::vector<float> xyz;                                ///< [axis, index into `moved`]
        std::vector<std::pair<std::size_t, Transform>> turns;  ///< pieces that moved
        Index in_call = -1;  ///< its number in the last call; -1: nothing moved
        bool is_noted = false;

        View<const float, 2> positions() const { return {xyz.data(), Index{3}, moved.size()}; }
    };
    saxs::ProfileSession& session();
    /// Waits for what was begun.
    void finish();
    void copy_positions(const saxs::ProfileSession& from);

    const ProfileModel* model_;
    Context context_;
    Array<float, 3> xyz_;  ///< [conformation, axis, scatterer], with which the session starts
    std::vector<std::vector<Transform>> pieces_;  ///< [conformation][piece], accepted
    std::vector<Proposal> proposals_;             ///< [conformation]
    std::vector<std::uint8_t> has_moved_;         ///< [piece], of a proposal
    std::vector<std::size_t> mixed_;              ///< as ProfileModel::mixed, those that moved
    std::vector<saxs::Move> moves_;               ///< of the last call
    std::optional<saxs::ProfileSession> session_;
    View<const double, 3> computed_;
    bool has_begun_ = false;  ///< and proposed_profile() must wait for the end
};

}  // namespace pleat::refine
