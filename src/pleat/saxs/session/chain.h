// Chain: positions and sums over pairs of bodies, accepted ones and those of a proposal.
#pragma once

#include <vector>

#include "pleat/core/array.h"
#include "pleat/saxs/session/rigid_motion.h"
#include "pleat/saxs/session/profile_session.h"

namespace pleat::saxs {

struct BodyPair {
    std::int32_t a = 0, b = 0;  ///< a <= b
};

/// One chain of a session, whose proposals leave what is accepted as it is.
class Chain {
public:
    /// `slots` [axis, slot]; `first_slot` [body + 1]; `size` of a profile: channel pairs times q.
    Chain(View<const float, 2> sorted_xyz, const std::vector<Index>& first_sorted, Index size);

    Index size() const { return sums.extent(1); }
    bool is_pending() const { return pending_; }

    /// Writes a move's positions into `proposed`. InputError naming a scatterer that is none.
    void write_move(const Move& move, const std::vector<Index>& sorted_index_of);
    /// The pairs of bodies whose sums the proposal changes; first_slot [body + 1].
    const std::vector<BodyPair>& changed_pairs(const std::vector<Index>& first_sorted);
    /// Takes the changed pairs' new sums, in their order, and writes the proposed profile.
    void set_new_sums(const double* new_sums, double* to);
    void accept();
    void forget();
    /// Finds the profile anew from the sums of all pairs of bodies.
    void add_up();

    Array<float, 2> xyz, proposed;  ///< [axis, slot]
    Array<double, 2> sums;          ///< [pair of bodies, channel pair and q]
    Array<double, 2> self;          ///< [channel pair, q]: of scatterers with themselves
    std::vector<double> profile;    ///< of all
    Index accepted = 0;             ///< moves since all sums were found

private:
    /// Takes the moved positions of one into the other, so that nothing has moved.
    void copy_moved(const Array<float, 2>& from, Array<float, 2>& to);

    Index bodies_;
    std::vector<Anchors> anchors_;             ///< [body]
    std::vector<std::int32_t> body_of_;        ///< [slot]
    std::vector<std::uint8_t> moved_;          ///< [body]
    Index first_moved_ = 0, last_moved_ = -1;  ///< slots
    std::vector<BodyPair> changed_;
    std::vector<double> new_sums_, new_profile_;
    bool pending_ = false;
};

}  // namespace pleat::saxs
