// Chain: the positions of a Monte Carlo chain and its sums over pairs of bodies, accepted and
// proposed.
#pragma once

#include <vector>

#include "pleat/core/array.h"
#include "pleat/saxs/session/profile_session.h"
#include "pleat/saxs/session/rigid_motion.h"

namespace pleat::saxs {

struct BodyPair {
    std::int32_t a = 0, b = 0;  ///< a <= b
};

/// One chain of a ProfileSession. A proposal does not change the accepted state.
class Chain {
public:
    /// `sorted_xyz` [axis, sorted scatterer]; `first_sorted` [body, and one]: the first scatterer
    /// of each body; `size` of a profile: channel pairs times q. Rigid motions keep sums unless
    /// `is_exact`, since they are rigid only up to the rounding of positions.
    Chain(View<const float, 2> sorted_xyz, const std::vector<Index>& first_sorted, Index size,
          bool is_exact);

    Index size() const { return sums.extent(1); }
    bool is_pending() const { return pending_; }

    /// Writes a move's positions into `proposed`. Throws UsageError for wrong shapes and
    /// scatterers. `sorted_index_of` [scatterer].
    void write_move(const Move& move, const std::vector<Index>& sorted_index_of);
    /// The pairs of bodies whose sums the proposal changes.
    const std::vector<BodyPair>& changed_pairs(const std::vector<Index>& first_sorted);
    /// Sets the new sums of the changed pairs, in their order, and writes the proposed profile.
    void set_new_sums(const double* new_sums, double* to);
    void accept();
    void drop_proposal();
    /// Computes the profile again from the sums of all pairs of bodies.
    void add_up();

    Array<float, 2> xyz, proposed;  ///< [axis, sorted scatterer]
    Array<double, 2> sums;          ///< [pair of bodies, channel pair and q]
    Array<double, 2> self_terms;    ///< [channel pair, q]: terms i = j
    std::vector<double> profile;    ///< [channel pair and q]
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
    std::vector<double> new_sums_, new_profile_;
    bool pending_ = false;
};

}  // namespace pleat::saxs
