// Chain: the positions of a Monte Carlo chain, accepted and proposed, and what a proposal changes.
#pragma once

#include <vector>

#include "pleat/core/array.h"
#include "pleat/saxs/session/profile_session.h"
#include "pleat/saxs/session/rigid_motion.h"
#include "pleat/saxs/session/session_sums.h"

namespace pleat::saxs {

/// One chain of a ProfileSession. A proposal does not change the accepted state.
class Chain {
public:
    /// `sorted_xyz` [axis, sorted scatterer]; `first_sorted` [body, and one]: the first scatterer
    /// of each body. Rigid motions keep sums unless `is_exact`, since they are rigid only up to the
    /// rounding of positions.
    Chain(View<const float, 2> sorted_xyz, const std::vector<Index>& first_sorted, bool is_exact);

    bool is_pending() const { return pending_; }

    /// Writes a move's positions into `proposed`. Throws UsageError for wrong shapes and
    /// scatterers. `sorted_index_of` [scatterer].
    void write_move(const Move& move, const std::vector<Index>& sorted_index_of);
    /// The pairs of bodies whose sums the proposal changes; valid until the next call.
    const std::vector<BodyPair>& changed_pairs(const std::vector<Index>& first_sorted);
    void accept();
    void drop_proposal();
    /// Takes over the accepted positions of a chain of the same bodies.
    void adopt(const Chain& from);

    Array<float, 2> xyz, proposed;  ///< [axis, sorted scatterer]
    Index accepted_moves = 0;       ///< moves since all sums were computed

private:
    /// Copies the moved positions of one into the other, and marks all as not moved.
    void copy_moved(const Array<float, 2>& from, Array<float, 2>& to);

    Index bodies_;
    bool is_exact_;
    std::vector<Anchors> anchors_;             ///< [body]
    std::vector<std::int32_t> body_of_;        ///< [sorted scatterer]
    std::vector<std::uint8_t> moved_;          ///< [body]
    Index first_moved_ = 0, last_moved_ = -1;  ///< sorted scatterers
    std::vector<BodyPair> changed_;
    bool pending_ = false;
};

}  // namespace pleat::saxs
