// Chain: which pairs a move changes, and accepting it.
#include "pleat/saxs/session/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "pleat/core/error.h"
#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/session/rigid_motion.h"

namespace pleat::saxs {

Chain::Chain(View<const float, 2> sorted_xyz, const std::vector<Index>& first_sorted, bool is_exact)
    : xyz(sorted_xyz.extent(0), sorted_xyz.extent(1)),
      proposed(sorted_xyz.extent(0), sorted_xyz.extent(1)),
      bodies_(static_cast<Index>(first_sorted.size()) - 1),
      is_exact_(is_exact),
      moved_(static_cast<std::size_t>(bodies_)),
      first_moved_(sorted_xyz.extent(1)) {
    for (std::size_t body = 0; body + 1 < first_sorted.size(); ++body) {
        const Index first = first_sorted[body], count = first_sorted[body + 1] - first;
        anchors_.push_back(count > 0 ? find_anchors(sorted_xyz, first, count) : Anchors{});
        body_of_.insert(body_of_.end(), static_cast<std::size_t>(count),
                        static_cast<std::int32_t>(body));
    }
    std::copy(sorted_xyz.begin(), sorted_xyz.end(), xyz.begin());
    std::copy(sorted_xyz.begin(), sorted_xyz.end(), proposed.begin());
}

void Chain::write_move(const Move& move, const std::vector<Index>& sorted_index_of) {
    const Index count = static_cast<Index>(move.scatterers.size());
    if (move.xyz.extent(0) != 3 || move.xyz.extent(1) != count)
        throw UsageError(fmt::format("expected moved coordinates [3, {}], found [{}, {}]", count,
                                     move.xyz.extent(0), move.xyz.extent(1)));
    const auto is_one = [&](Index scatterer) {
        return scatterer >= 0 && scatterer < static_cast<Index>(sorted_index_of.size());
    };
    for (const Index scatterer : move.scatterers)
        if (!is_one(scatterer))
            throw UsageError(fmt::format("expected scatterers from 0 to {}, found {}",
                                         sorted_index_of.size() - 1, scatterer));
    pending_ = true;
    const float *const x = move.xyz[0].data, *const y = move.xyz[1].data,
                       *const z = move.xyz[2].data;
    float *const u = proposed.view()[0].data, *const v = proposed.view()[1].data,
                 *const w = proposed.view()[2].data;
    // Local pointers: the compiler must assume that writing flags changes members.
    const Index *const moved = move.scatterers.data(), *const sorted_index = sorted_index_of.data();
    const std::int32_t* const bodies = body_of_.data();
    std::uint8_t* const flags = moved_.data();
    Index first = first_moved_, last = last_moved_;
    for (Index n = 0; n < count; ++n) {
        const Index index = sorted_index[moved[n]];
        first = std::min(first, index);
        last = std::max(last, index);
        u[index] = x[n];
        v[index] = y[n];
        w[index] = z[n];
        flags[bodies[index]] = 1;
    }
    first_moved_ = first;
    last_moved_ = last;
}

const std::vector<BodyPair>& Chain::changed_pairs(const std::vector<Index>& first_sorted) {
    std::vector<std::optional<RigidMotion>> motion(moved_.size());
    const auto block = [&](Index body) {
        const auto n = static_cast<std::size_t>(body);
        return std::pair(first_sorted[n], first_sorted[n + 1] - first_sorted[n]);
    };
    for (Index body = 0; body < bodies_; ++body) {
        if (is_exact_ || !moved_[static_cast<std::size_t>(body)]) continue;
        const auto [first, count] = block(body);
        motion[static_cast<std::size_t>(body)] =
            rigid_motion(anchors_[static_cast<std::size_t>(body)], xyz, proposed, first, count);
    }
    changed_.clear();
    for (Index a = 0; a < bodies_; ++a) {
        for (Index b = a; b < bodies_; ++b) {
            const auto one = static_cast<std::size_t>(a), other = static_cast<std::size_t>(b);
            if (!moved_[one] && !moved_[other]) continue;
            const auto [first, count] = block(b);
            // Distances inside a rigid body, and between bodies that moved alike, did not change.
            if (motion[one] && motion[other] &&
                (a == b || moves_by(*motion[one], xyz, proposed, first, count)))
                continue;
            changed_.push_back({static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)});
        }
    }
    return changed_;
}

void Chain::accept() {
    if (!pending_) throw UsageError("expected a proposal to accept, found none");
    copy_moved(proposed, xyz);
    ++accepted_moves;
}

void Chain::copy_moved(const Array<float, 2>& from, Array<float, 2>& to) {
    // Scatterers in between that did not move are equal in both; one long copy is faster.
    for (Index axis = 0; axis < 3 && first_moved_ <= last_moved_; ++axis)
        std::copy_n(&from(axis, first_moved_), last_moved_ - first_moved_ + 1,
                    &to(axis, first_moved_));
    first_moved_ = xyz.extent(1);
    last_moved_ = -1;
    std::fill(moved_.begin(), moved_.end(), std::uint8_t{0});
    pending_ = false;
}

void Chain::drop_proposal() { copy_moved(xyz, proposed); }

}  // namespace pleat::saxs
