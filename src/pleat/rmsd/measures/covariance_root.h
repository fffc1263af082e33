// Covariance root: covariances of parts of two frames, and how far superposition gets with them.
#pragma once

#include <array>

#include "pleat/core/view.h"

namespace pleat::rmsd {

using Covariance = std::array<double, 9>;  ///< [axis of p][axis of q]

inline Covariance operator+(Covariance one, const Covariance& other) {
    for (std::size_t n = 0; n < 9; ++n) one[n] += other[n];
    return one;
}

/// Adds the covariance of some atoms of two frames [axis, atom], which begin `stride` apart.
void add_covariance(const double* p, const double* q, Index atoms, Index stride, Covariance& r);

/// The sum of the squares of its entries.
double square_of(const Covariance& r);

/// The largest eigenvalue of the key matrix, the largest root of its polynomial, by Newton from
/// above, where it falls towards the root; any number below `limit` if the root is. Error: 1e-7 of
/// it.
double largest_root(const Covariance& r, double limit);

}  // namespace pleat::rmsd
