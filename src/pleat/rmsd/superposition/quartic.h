// Quartic: the characteristic polynomial of Horn's key matrix, its largest root and eigenvector, on
// host and device.
#pragma once

#include <cmath>

#include "pleat/core/cuda/host_device.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd {

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
    /// The largest root to 1e-7 of itself; any number below `limit` if the root is.
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
    /// The largest root to 1e-13 of itself, as far as rounding lets it.
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

/// A sum of products that superposition reaches, and by how much it may be wrong.
struct ReachedSum {
    double sum, error;
};

/// The largest root for a covariance of frames, `size` being the root of the product of their sums
/// of squares, with the bounds of the CPU's float64 kernel (pair_block.cpp): the error is infinite
/// unless Newton's iteration has converged and the root is alone.
PLEAT_HOST_DEVICE inline ReachedSum reached_sum(const double (&r)[9], double size) {
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
    // A comparison with NaN is false: what is not known to be certain has no bound.
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
/// root). Returns false if the root is not alone (the product of its gaps below 1e-3 of its cube),
/// or not a number.
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
        // The entry on the diagonal is the product of the gaps times the square of its part.
        if (!(std::fabs(quaternion[column]) > largest)) continue;
        largest = std::fabs(quaternion[column]);
        for (int row = 0; row < 4; ++row) best[row] = quaternion[row];
    }
    constexpr double kMinGaps = 1e-3;
    return largest > kMinGaps * scale;
}

}  // namespace pleat::rmsd
