// Rotation: the best one of a covariance, in a fraction of Jacobi's time.
#pragma once

namespace pleat::rmsd {

/// The proper rotation `m`, row by row, that brings p closest to q, of their covariance
/// r[a][b] = sum p_a q_b, in float64. The largest root of the key matrix comes from Newton on its
/// polynomial from above, and a column of the adjugate of (matrix - root) is the quaternion. Where
/// the root is not alone (the product of its gaps below 1e-3 of its cube), or not a number, Jacobi
/// takes over: rods, solids, single atoms.
void rotation_of_covariance(const double (&r)[9], double (&m)[9]);

}  // namespace pleat::rmsd
