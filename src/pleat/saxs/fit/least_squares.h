// Least squares: small dense systems, with and without the constraint that nothing is negative.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace pleat::saxs {

/// The sum of products, by vector instructions.
double dot(const double* a, const double* b, std::size_t count);

/// Solves A x = b for a symmetric positive definite A, row-major [n, n], by Cholesky; false where
/// it is not (then x is not set).
bool solve_cholesky(std::span<const double> matrix, std::span<const double> right,
                    std::vector<double>& x);

/// Minimises x' A x / 2 - b' x over x >= 0 for a symmetric positive semidefinite A, row-major [n,
/// n] (Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23).
std::vector<double> solve_nonnegative(std::span<const double> matrix,
                                      std::span<const double> right);

}  // namespace pleat::saxs
