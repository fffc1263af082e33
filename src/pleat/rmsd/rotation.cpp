// Rotation: Newton and one column of the adjugate where that is safe, else Jacobi.
#include "pleat/rmsd/rotation.h"

#include <cmath>

#include "pleat/rmsd/superpose.h"

namespace pleat::rmsd {

namespace {

/// The largest root of the characteristic polynomial of the key matrix, by Newton from above.
double largest_root(const double (&r)[9]) {
    double f = 0.0, c = 0.0, determinant = 0.0;
    for (const double entry : r) f += entry * entry;
    for (int a = 0; a < 3; ++a) {
        const int u = 3 * ((a + 1) % 3), v = 3 * ((a + 2) % 3);
        for (int b = 0; b < 3; ++b) {
            const int s = (b + 1) % 3, t = (b + 2) % 3;
            const double minor = r[u + s] * r[v + t] - r[u + t] * r[v + s];
            c += minor * minor;
            if (a == 0) determinant += r[b] * minor;
        }
    }
    double x = std::sqrt(3.0 * f);
    for (int n = 0; n < 20; ++n) {
        const double t = x * x - f;
        const double step =
            (t * t - 8.0 * determinant * x - 4.0 * c) / (4.0 * x * t - 8.0 * determinant);
        x -= step;
        if (!(std::fabs(step) > 1e-13 * x)) break;
    }
    return x;
}

}  // namespace

void rotation_of_covariance(const double (&r)[9], double (&m)[9]) {
    const double root = largest_root(r);
    double n[4][4];
    key_matrix(r, n);
    for (int a = 0; a < 4; ++a) n[a][a] -= root;
    double best[4][4] = {}, most = 0.0;
    for (int column = 0; column < 4; ++column) {
        double quaternion[4];
        for (int row = 0; row < 4; ++row) {
            int i[3], j[3];
            for (int from = 0, k = 0; from < 4; ++from)
                if (from != column) i[k++] = from;
            for (int from = 0, k = 0; from < 4; ++from)
                if (from != row) j[k++] = from;
            const auto at = [&](int a, int b) { return n[i[a]][j[b]]; };
            const double cofactor = at(0, 0) * (at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)) -
                                    at(0, 1) * (at(1, 0) * at(2, 2) - at(1, 2) * at(2, 0)) +
                                    at(0, 2) * (at(1, 0) * at(2, 1) - at(1, 1) * at(2, 0));
            quaternion[row] = (row + column) % 2 == 0 ? cofactor : -cofactor;
        }
        // Its diagonal entry is the product of the gaps times the square of its part.
        if (std::fabs(quaternion[column]) <= most) continue;
        most = std::fabs(quaternion[column]);
        for (int row = 0; row < 4; ++row) best[row][0] = quaternion[row];
        if (most > 0.1 * std::fabs(root * root * root)) break;
    }
    constexpr double kLeastGaps = 1e-3;
    if (!(most > kLeastGaps * std::fabs(root * root * root))) return rotation_by_jacobi(r, m);
    rotation_of(best, 0, m);
}

}  // namespace pleat::rmsd
