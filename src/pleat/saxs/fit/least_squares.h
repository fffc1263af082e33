// Least squares: small dense systems, with and without the constraint that nothing is negative.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace pleat::saxs {

/// The dot product, by SIMD instructions.
double dot(const double* a, const double* b, std::size_t count);

/// Cholesky factor: writes the lower triangle whose product with its transpose is the matrix `of(i,
/// j)`, j <= i, to `root` [count, stride]; returns false if the matrix is numerically singular.
template <class Matrix>
bool cholesky_root(std::size_t count, std::size_t stride, const Matrix& of, double* root) {
    constexpr double kSingular = 1e-13;
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            const double value = of(i, j);
            double sum = value;
            for (std::size_t k = 0; k < j; ++k) sum -= root[i * stride + k] * root[j * stride + k];
            if (i == j && !(sum > kSingular * value)) return false;
            root[i * stride + j] = i == j ? std::sqrt(sum) : sum / root[j * stride + j];
        }
    return true;
}
/// Replaces b by the x of root x = b, and of root' x = b.
inline void solve_lower(std::size_t count, std::size_t stride, const double* root, double* x) {
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < i; ++k) x[i] -= root[i * stride + k] * x[k];
        x[i] /= root[i * stride + i];
    }
}
inline void solve_upper(std::size_t count, std::size_t stride, const double* root, double* x) {
    for (std::size_t i = count; i-- > 0;) {
        for (std::size_t k = i + 1; k < count; ++k) x[i] -= root[k * stride + i] * x[k];
        x[i] /= root[i * stride + i];
    }
}

/// Solves A x = b by Cholesky for a symmetric positive definite A, row-major [n, n]; returns false,
/// without setting x, if it is not.
bool solve_cholesky(std::span<const double> matrix, std::span<const double> right,
                    std::vector<double>& x);

/// Minimises x' A x / 2 - b' x over x >= 0 for a symmetric positive semidefinite A, row-major [n,
/// n] (Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23).
std::vector<double> solve_nonnegative(std::span<const double> matrix,
                                      std::span<const double> right);

}  // namespace pleat::saxs
