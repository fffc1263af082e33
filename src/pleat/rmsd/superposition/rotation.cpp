// Rotation: Newton and one column of the adjugate where that is safe, else Jacobi.
#include "pleat/rmsd/superposition/rotation.h"

#include <cmath>

#include "pleat/rmsd/superposition/superpose.h"

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

/// The six minors of two rows: of columns 01, 02, 03, 12, 13, 23.
void minors_of(const double (&x)[4], const double (&y)[4], double (&minors)[6]) {
    int next = 0;
    for (int a = 0; a < 3; ++a)
        for (int b = a + 1; b < 4; ++b) minors[next++] = x[a] * y[b] - y[a] * x[b];
}

}  // namespace

void rotation_of_covariance(const double (&r)[9], double (&m)[9]) {
    const double root = largest_root(r);
    double n[4][4], upper[6], lower[6];
    key_matrix(r, n);
    for (int a = 0; a < 4; ++a) n[a][a] -= root;
    minors_of(n[0], n[1], upper);
    minors_of(n[2], n[3], lower);
    const double scale = std::fabs(root * root * root);
    double best[4][4] = {}, largest = 0.0;
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
        for (int row = 0; row < 4; ++row) best[row][0] = quaternion[row];
    }
    constexpr double kMinGaps = 1e-3;
    if (!(largest > kMinGaps * scale)) return rotation_by_jacobi(r, m);
    rotation_of(best, 0, m);
}

}  // namespace pleat::rmsd
