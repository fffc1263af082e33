// Rigid motion: tells whether scatterers moved as one body, and how.
#pragma once

#include <optional>
#include <span>

#include "pleat/core/array.h"

namespace pleat::saxs {

struct RigidMotion {
    double rotation[9];
    double shift[3];  ///< x' = rotation x + shift
};

/// Deviation in angstrom up to which a motion counts as rigid. What it hides is forgotten with the
/// next refresh.
inline constexpr double kRigidTolerance = 2e-4;

/// The motion that takes slots first, ..., first + count - 1 of `before` [axis, slot] to `after`, if
/// it is rigid.
std::optional<RigidMotion> rigid_motion(View<const float, 2> before, View<const float, 2> after,
                                        Index first, Index count);

/// Whether a motion takes these slots from `before` to `after`.
bool follows(const RigidMotion& motion, View<const float, 2> before, View<const float, 2> after,
             Index first, Index count);

}  // namespace pleat::saxs
