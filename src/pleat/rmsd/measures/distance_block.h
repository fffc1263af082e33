// Distance blocks: distances within frames, and sums of squares of their differences.
#pragma once

#include <vector>

#include "pleat/core/array.h"
#include "pleat/rmsd/kernel/pair_block.h"

namespace pleat::rmsd {

/// Distances of a frame that are processed at once: few enough that those of a block of frames stay
/// in the cache, and that float32 can add their squares.
inline constexpr Index kDistances = 64;

/// A pair of atoms k < l at a position in the order (0, 1), (0, 2), ..., (1, 2), ...
struct AtomPair {
    Index k = 0, l = 1;
};

/// The divisor of a sum over pairs of atoms, `weights` [atom] (empty: 1); 0 if no pair has a
/// weight.
double pair_weight(const std::vector<double>& weights, Index atoms);

/// Distances of up to kDistances pairs of atoms from `first` on in the frames of a panel
/// [atom, axis, lane], each times the product of both atoms' `roots`, to [pair, lane]. Returns the
/// pair after the last one.
template <class Real>
AtomPair panel_distances(const double* panel, const double* roots, Index atoms, AtomPair first,
                         Index count, Real* to);

/// Adds squared differences of `count` distances to sums [row, lane]; `rows` and `columns` are
/// [pair, lane], and the first `row_count` lanes of `rows` are used.
template <class Real>
void add_squares(const Real* rows, Index row_count, const Real* columns, Index count, double* sums);

}  // namespace pleat::rmsd
