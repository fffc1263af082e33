// Rigid motion: whether scatterers moved as one body, and how.
#pragma once

#include <array>
#include <optional>

#include "pleat/core/array.h"

namespace pleat::saxs {

/// x' = after + rotation (x - before)
struct RigidMotion {
    float rotation[9];
    float before[3], after[3];
};

/// Three scatterers of a body: the second is far from the first, the third from their line.
using Anchors = std::array<Index, 3>;

/// Deviation in angstrom up to which a motion counts as rigid. The next refresh removes its effect.
inline constexpr float kRigidTolerance = 2e-4f;

/// The anchors of scatterers [first, first + count) of `xyz` [axis, sorted scatterer]; count is at
/// least 1.
Anchors find_anchors(View<const float, 2> xyz, Index first, Index count);

/// The motion that moves those scatterers from `before` to `after`, if it is rigid.
std::optional<RigidMotion> rigid_motion(const Anchors& anchors, View<const float, 2> before,
                                        View<const float, 2> after, Index first, Index count);

/// Whether a motion moves these scatterers from `before` to `after`.
bool moves_by(const RigidMotion& motion, View<const float, 2> before, View<const float, 2> after,
              Index first, Index count);

}  // namespace pleat::saxs
