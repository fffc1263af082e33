// Frames: centred coordinates in float64, the form in which every kernel takes an ensemble.
#pragma once

#include <span>
#include <string_view>

#include "pleat/core/array.h"

namespace pleat::rmsd {

/// An ensemble whose frames have their weighted mean at the origin. Each atom is multiplied by the
/// root of its weight, so that sums over atoms are weighted sums.
struct Frames {
    Array<double, 3> xyz;   ///< [frame, axis, atom], angstrom
    Array<double, 1> self;  ///< [frame]: sum of squares
    double weight = 0.0;    ///< of all atoms: the divisor of a mean square

    Index frame_count() const { return xyz.extent(0); }
    Index atom_count() const { return xyz.extent(2); }
    const double* frame(Index i) const { return xyz.data() + i * 3 * atom_count(); }
};

/// The RMSD of two frames in float64 from rotated coordinates, right to 1e-8 angstrom.
double certain_rmsd(const Frames& frames, Index i, Index j);

/// InputError naming the first frame with a coordinate that is not finite or beyond 1e15; `what`
/// is what frames are called there.
void check_coordinates(View<const float, 3> xyz, std::string_view what = "frame");

/// Centres `xyz` [frame, atom, axis]. `weights` [atom], not negative and not all 0; empty: all 1.
/// InputError as check_coordinates() says.
Frames centre(View<const float, 3> xyz, std::span<const double> weights, int threads);

}  // namespace pleat::rmsd
