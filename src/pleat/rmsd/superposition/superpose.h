// Superposition of one pair by Horn's quaternions, by Jacobi or by Newton on the characteristic
// polynomial of the key matrix, on host and device.
#pragma once

#include <cmath>

#include "pleat/core/cuda/host_device.h"
#include "pleat/core/view.h"

namespace pleat::rmsd {

/// The symmetric 4 x 4 key matrix of a covariance R[a][b] = sum p_a q_b; its largest eigenvalue is
/// the sum that superposition reaches, and the eigenvector is the quaternion that turns p onto q.
PLEAT_HOST_DEVICE inline void key_matrix(const double (&r)[9], double (&n)[4][4]) {
    n[0][0] = r[0] + r[4] + r[8];
    n[1][1] = r[0] - r[4] - r[8];
    n[2][2] = r[4] - r[0] - r[8];
    n[3][3] = r[8] - r[0] - r[4];
    n[0][1] = n[1][0] = r[5] - r[7];
    n[0][2] = n[2][0] = r[6] - r[2];
    n[0][3] = n[3][0] = r[1] - r[3];
    n[1][2] = n[2][1] = r[1] + r[3];
    n[1][3] = n[3][1] = r[2] + r[6];
    n[2][3] = n[3][2] = r[5] + r[7];
}

/// Jacobi rotation of rows and columns p and q of `n` that zeroes n[p][q]; also of the vectors.
PLEAT_HOST_DEVICE inline void rotate_pair(double (&n)[4][4], double (&vectors)[4][4], int p,
                                          int q) {
    if (n[p][q] == 0.0) return;
    const double theta = (n[q][q] - n[p][p]) / (2.0 * n[p][q]);
    const double size = std::fabs(theta);
    // For large theta, whose square would overflow, the tangent is 1 / (2 theta).
    const double t = (theta < 0 ? -1.0 : 1.0) /
                     (size > 1e150 ? 2.0 * size : size + std::sqrt(size * size + 1.0));
    const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
    for (int k = 0; k < 4; ++k) {
        const double a = n[k][p], b = n[k][q];
        n[k][p] = c * a - s * b;
        n[k][q] = s * a + c * b;
    }
    for (int k = 0; k < 4; ++k) {
        const double a = n[p][k], b = n[q][k];
        n[p][k] = c * a - s * b;
        n[q][k] = s * a + c * b;
        const double u = vectors[k][p], v = vectors[k][q];
        vectors[k][p] = c * u - s * v;
        vectors[k][q] = s * u + c * v;
    }
}

/// Cyclic Jacobi method. Returns the column of `vectors` with the eigenvector of the largest
/// eigenvalue.
PLEAT_HOST_DEVICE inline int largest_eigenvector(double (&n)[4][4], double (&vectors)[4][4]) {
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) vectors[a][b] = a == b ? 1.0 : 0.0;
    constexpr int kMaxSweeps = 20;  // five suffice, however degenerate the matrix is
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
        double off = 0.0, all = 0.0;
        for (int a = 0; a < 4; ++a) {
            for (int b = 0; b < 4; ++b) {
                all += n[a][b] * n[a][b];
                if (a != b) off += n[a][b] * n[a][b];
            }
        }
        if (off <= 1e-34 * all) break;
        for (int p = 0; p < 3; ++p)
            for (int q = p + 1; q < 4; ++q) rotate_pair(n, vectors, p, q);
    }
    int best = 0;
    for (int a = 1; a < 4; ++a)
        if (n[a][a] > n[best][best]) best = a;
    return best;
}

/// The rotation, row by row, of a quaternion of any length.
PLEAT_HOST_DEVICE inline void rotation_of(const double (&quaternion)[4], double (&rotation)[9]) {
    double w = quaternion[0], x = quaternion[1], y = quaternion[2], z = quaternion[3];
    const double scale = 1.0 / std::sqrt(w * w + x * x + y * y + z * z);
    w *= scale;
    x *= scale;
    y *= scale;
    z *= scale;
    rotation[0] = w * w + x * x - y * y - z * z;
    rotation[1] = 2 * (x * y - w * z);
    rotation[2] = 2 * (x * z + w * y);
    rotation[3] = 2 * (x * y + w * z);
    rotation[4] = w * w - x * x + y * y - z * z;
    rotation[5] = 2 * (y * z - w * x);
    rotation[6] = 2 * (x * z - w * y);
    rotation[7] = 2 * (y * z + w * x);
    rotation[8] = w * w - x * x - y * y + z * z;
}

/// The rotation of the quaternion in column `column`.
PLEAT_HOST_DEVICE inline void rotation_of(const double (&vectors)[4][4], int column,
                                          double (&rotation)[9]) {
    const double quaternion[4] = {vectors[0][column], vectors[1][column], vectors[2][column],
                                  vectors[3][column]};
    rotation_of(quaternion, rotation);
}

/// The best rotation of a covariance.
PLEAT_HOST_DEVICE inline void rotation_by_jacobi(const double (&r)[9], double (&rotation)[9]) {
    double n[4][4], vectors[4][4];
    key_matrix(r, n);
    const int column = largest_eigenvector(n, vectors);
    rotation_of(vectors, column, rotation);
}

/// Computes the covariance r[a][b] = sum p_a q_b of two frames [axis, atom].
PLEAT_HOST_DEVICE inline void covariance_of(const double* p, const double* q, Index atoms,
                                            double (&r)[9]) {
    for (double& entry : r) entry = 0.0;
    for (Index k = 0; k < atoms; ++k)
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) r[3 * a + b] += p[a * atoms + k] * q[b * atoms + k];
}

/// The proper rotation that brings centred frame p closest to centred frame q; both are [axis,
/// atom]. Coordinates should be near 1 in size where their squares could overflow or vanish.
PLEAT_HOST_DEVICE inline void best_rotation(const double* p, const double* q, Index atoms,
                                            double (&rotation)[9]) {
    double r[9];
    covariance_of(p, q, atoms, r);
    rotation_by_jacobi(r, rotation);
}

/// The sum of squared distances between p, rotated by `m`, and q, both [axis, atom], from rotated
/// coordinates; exact even if it is far below the sums of squares of the frames.
PLEAT_HOST_DEVICE inline double rotated_residual(const double* p, const double* q, Index atoms,
                                                 const double (&m)[9]) {
    double sum = 0.0;
    for (Index k = 0; k < atoms; ++k) {
        const double x = p[k], y = p[atoms + k], z = p[2 * atoms + k];
        const double dx = m[0] * x + m[1] * y + m[2] * z - q[k];
        const double dy = m[3] * x + m[4] * y + m[5] * z - q[atoms + k];
        const double dz = m[6] * x + m[7] * y + m[8] * z - q[2 * atoms + k];
        sum += dx * dx + dy * dy + dz * dz;
    }
    return sum;
}

/// The sum of squared distances between p and q after the best rotation.
PLEAT_HOST_DEVICE inline double superposed_residual(const double* p, const double* q, Index atoms) {
    double m[9];
    best_rotation(p, q, atoms, m);
    return rotated_residual(p, q, atoms, m);
}

/// P(x) = (x^2 - |R|^2)^2 - 8 det(R) x - 4 |minors of R|^2 of a covariance R. Its roots are the
/// eigenvalues of the key matrix, all real, and from the largest one on it is convex, so Newton's
/// steps from above never pass that root, which lies within four steps' length.
struct Quartic {
    double square = 0.0, minors = 0.0, determinant = 0.0;

    PLEAT_HOST_DEVICE explicit Quartic(const double* r) {
        for (int n = 0; n < 9; ++n) square += r[n] * r[n];
        for (int a = 0; a < 3; ++a) {
            const int u = 3 * ((a + 1) % 3), v = 3 * ((a + 2) % 3);
            for (int b = 0; b < 3; ++b) {
                const int s = (b + 1) % 3, t = (b + 2) % 3;
                const double minor = r[u + s] * r[v + t] - r[u + t] * r[v + s];
                minors += minor * minor;
                if (a == 0) determinant += r[b] * minor;
            }
        }
    }
    /// Not below the largest root.
    PLEAT_HOST_DEVICE double start() const { return std::sqrt(3.0 * square); }
    PLEAT_HOST_DEVICE double slope(double x) const {
        return 4.0 * x * (x * x - square) - 8.0 * determinant;
    }
    PLEAT_HOST_DEVICE double step(double x) const {
        const double t = x * x - square;
        return (t * t - 8.0 * determinant * x - 4.0 * minors) / (4.0 * x * t - 8.0 * determinant);
    }
    /// The largest root with relative error 1e-7; any number below `limit` if the root is below it.
    PLEAT_HOST_DEVICE double root_above(double limit) const {
        double x = start();
        constexpr int kMaxRounds = 60;  // a root of two is approached by half each round
        for (int n = 0; n < kMaxRounds && x >= limit; ++n) {
            const double change = step(x);
            if (!(std::fabs(change) < INFINITY)) break;
            x -= change;
            if (!(std::fabs(change) > 1e-8 * x)) break;
        }
        return x;
    }
    /// The largest root with relative error 1e-13, as far as rounding allows.
    PLEAT_HOST_DEVICE double largest_root() const {
        double x = start();
        for (int n = 0; n < 20; ++n) {
            const double change = step(x);
            x -= change;
            if (!(std::fabs(change) > 1e-13 * x)) break;
        }
        return x;
    }
};

/// A sum of products that superposition reaches, and its maximum error.
struct SumWithError {
    double sum, error;
};

/// The largest root for a covariance of frames, `size` being the root of the product of their sums
/// of squares, with the bounds of the CPU's float64 kernel (pair_block.cpp): the error is infinite
/// unless Newton's iteration has converged and the root is separated from the next.
PLEAT_HOST_DEVICE inline SumWithError sum_with_error(const double (&r)[9], double size) {
    constexpr double kStep = 3e-9, kSlope = 1e-4, kRounding = 5e-15;
    constexpr int kMaxSteps = 12;
    const double scale = 1.0 / size;
    double scaled[9];
    for (int n = 0; n < 9; ++n) scaled[n] = scale * r[n];
    const Quartic quartic(scaled);
    double x = quartic.start(), step = x;
    for (int n = 0; n < kMaxSteps && !(std::fabs(step) < kStep); ++n) {
        step = quartic.step(x);
        x -= step;
    }
    const double slope = quartic.slope(x);
    // Comparisons with NaN are false, so NaN gets no bound.
    const bool is_certain = slope > kSlope && std::fabs(step) < kStep;
    return {x * size, is_certain ? kRounding / slope * size : INFINITY};
}

/// The six minors of two rows: of columns 01, 02, 03, 12, 13, 23.
PLEAT_HOST_DEVICE inline void minors_of(const double (&x)[4], const double (&y)[4],
                                        double (&minors)[6]) {
    int next = 0;
    for (int a = 0; a < 3; ++a)
        for (int b = a + 1; b < 4; ++b) minors[next++] = x[a] * y[b] - y[a] * x[b];
}

/// The quaternion, of any length, that turns p onto q: a column of the adjugate of (key matrix -
/// root). Returns false if the root is not separated from the others (the product of its gaps below
/// 1e-3 of its cube), or not a number.
PLEAT_HOST_DEVICE inline bool quaternion_by_adjugate(const double (&r)[9], double root,
                                                     double (&best)[4]) {
    double n[4][4], upper[6], lower[6];
    key_matrix(r, n);
    for (int a = 0; a < 4; ++a) n[a][a] -= root;
    minors_of(n[0], n[1], upper);
    minors_of(n[2], n[3], lower);
    const double scale = std::fabs(root * root * root);
    double largest = 0.0;
    for (double& entry : best) entry = 0.0;
    for (int column = 0; column < 4 && !(largest > 0.1 * scale); ++column) {
        // Laplace's expansion along the other row of its half; the sign does not matter.
        const double(&v)[4] = n[column ^ 1];
        const double(&c)[6] = column < 2 ? lower : upper;
        const double quaternion[4] = {
            v[1] * c[5] - v[2] * c[4] + v[3] * c[3], v[2] * c[2] - v[0] * c[5] - v[3] * c[1],
            v[0] * c[4] - v[1] * c[2] + v[3] * c[0], v[1] * c[1] - v[0] * c[3] - v[2] * c[0]};
        // The diagonal entry is the product of the gaps times the squared component of the
        // quaternion.
        if (!(std::fabs(quaternion[column]) > largest)) continue;
        largest = std::fabs(quaternion[column]);
        for (int row = 0; row < 4; ++row) best[row] = quaternion[row];
    }
    constexpr double kMinGaps = 1e-3;
    return largest > kMinGaps * scale;
}

/// The proper rotation `m`, row by row, that brings p closest to q, from their covariance r[a][b] =
/// sum p_a q_b, in float64. Newton's method from above finds the largest root of the key matrix,
/// and a column of the adjugate of (matrix - root) is the quaternion. Jacobi's method is used if
/// the root is NaN or is not separated from the others (the product of its gaps is below 1e-3 of
/// its cube), as for rods, symmetric bodies and single atoms.
PLEAT_HOST_DEVICE inline void rotation_of_covariance(const double (&r)[9], double (&m)[9]) {
    double quaternion[4];
    if (quaternion_by_adjugate(r, Quartic(r).largest_root(), quaternion))
        rotation_of(quaternion, m);
    else
        rotation_by_jacobi(r, m);
}

}  // namespace pleat::rmsd
