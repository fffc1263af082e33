// Distance step: torsions between two points turn so that the points keep their distance.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "pleat/workflows/refine/chain/geometry.h"

namespace pleat::refine {

inline constexpr std::size_t kMaxTurning = 8;   ///< torsions of one step
using Turns = std::array<double, kMaxTurning>;  ///< radians; 0 behind the last torsion

/// Two points, and the torsions between them in the order from the first to the last.
struct TorsionPath {
    /// A positive angle turns all that follows about this axis, a unit vector.
    struct Torsion {
        Vector origin, axis;
    };
    Vector first, last;
    std::vector<Torsion> torsions;  ///< at most kMaxTurning

    /// The distance of the points and its derivatives, angstrom / radian.
    struct Slope {
        double distance = 0;
        Turns gradient = {};
        double steepness() const;  ///< length of the gradient
    };
    Slope slope(const Turns& turns) const;
};

struct DistanceStep {
    Turns turns = {};
    /// ln of q(new -> old) |J| / (q(old -> new) |J'|), with the density q of steps on a surface of
    /// equal distance and the gradients J and J' of the distance before and after.
    double log_ratio = 0;
};

/// The step for normal random numbers, multiplied by `width` (radians). Empty if the gradient
/// vanishes at an end, if no turn along it has the distance, or if the reverse step does not lead
/// back.
std::optional<DistanceStep> distance_step(const TorsionPath& path, const Turns& normal,
                                          double width);

}  // namespace pleat::refine
