// Rigid motion: turning and moving one structure so that some of its atoms lie best on another's.
#pragma once

#include <span>

#include "pleat/core/view.h"

namespace pleat::rmsd {

/// x -> rotation (x - from) + to.
struct RigidMotion {
    double rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};  ///< row by row, proper
    double from[3] = {}, to[3] = {};

    void move(double (&x)[3]) const;
};

/// The one that brings `moving` closest to `target`, both [atom, axis] of the same atoms, with
/// weights of atoms (empty: all 1; else not negative and not all 0).
RigidMotion best_motion(View<const float, 2> moving, View<const float, 2> target,
                        std::span<const double> weights);

}  // namespace pleat::rmsd
