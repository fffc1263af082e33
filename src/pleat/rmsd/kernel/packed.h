// Packed frames: what the CPU kernel's product reads, as deviations from a common structure.
#pragma once

#include "pleat/core/array.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

/// Frames of a panel, side by side, one per lane.
inline constexpr Index kPanel = 16;

/// Frames p = m + a, turned onto a common structure m first. The covariance of a pair is
///     sum p q' = (sum m m' / 2 + sum a_p m') + (sum m m' / 2 + sum m a_q') + sum a_p a_q':
/// two terms of one frame each, exact in float64, and a product of deviations alone. Float32 has
/// all the digits wanted there, since its rounding is in proportion to how far frames are from m,
/// no longer to the size of the molecule. In float64 m is 0 and a is p.
template <class Real>
struct Packed {
    Index frames = 0, atoms = 0;
    double weight = 0.0;
    Array<Real, 3> rows;     ///< [frame, atom, axis]: a, with frames of zeros up to whole panels
    Array<Real, 4> columns;  ///< [panel, atom, axis, lane]: the same
    Array<double, 2> row_terms;       ///< [frame, 9]: what p adds to the covariance
    Array<double, 3> column_terms;    ///< [panel, 9, lane]: what q adds
    Array<double, 1> square_sum;      ///< [frame]: sum of squares of the packed p
    Array<double, 1> inverse_norm;    ///< [frame]: 1 / root of `square_sum`; 0 where that is 0
    Array<double, 1> deviation_norm;  ///< [frame]: root of the sum of squares of a

    Index panel_count() const { return columns.extent(0); }
};

template <class Real>
Packed<Real> pack(const Frames& frames, int threads);

}  // namespace pleat::rmsd
