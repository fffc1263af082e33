// TM superposition: a chosen set of atoms superposed and all measured, plainly and with vectors.
#include <algorithm>
#include <cmath>

#include "pleat/rmsd/superpose.h"
#include "pleat/rmsd/tm_search.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/rmsd/tm_superpose.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::rmsd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 8>;
using Vector = hn::Vec<Doubles>;

HWY_INLINE double total(Vector v) {
    const Doubles d;
    return hn::GetLane(hn::SumOfLanes(d, v));
}

/// Means of the masked atoms and their covariance. The mask's atoms lie near the origin beside
/// their spread, so that what is common may be taken off after summing.
void masked_sums(const TmPair& pair, const double* HWY_RESTRICT mask, double (&p_mean)[3],
                 double (&q_mean)[3], double (&r)[9]) {
    const Doubles d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    Vector count = hn::Zero(d);
    Vector px = count, py = count, pz = count, qx = count, qy = count, qz = count;
    Vector xx = count, xy = count, xz = count, yx = count, yy = count, yz = count, zx = count,
           zy = count, zz = count;
    for (Index k = 0; k < pair.padded; k += lanes) {
        const Vector m = hn::LoadU(d, mask + k);
        const Vector x = hn::Mul(m, hn::LoadU(d, pair.p + k));
        const Vector y = hn::Mul(m, hn::LoadU(d, pair.p + pair.padded + k));
        const Vector z = hn::Mul(m, hn::LoadU(d, pair.p + 2 * pair.padded + k));
        const Vector u = hn::LoadU(d, pair.q + k), v = hn::LoadU(d, pair.q + pair.padded + k),
                     w = hn::LoadU(d, pair.q + 2 * pair.padded + k);
        count = hn::Add(count, m);
        px = hn::Add(px, x);
        py = hn::Add(py, y);
        pz = hn::Add(pz, z);
        qx = hn::MulAdd(m, u, qx);
        qy = hn::MulAdd(m, v, qy);
        qz = hn::MulAdd(m, w, qz);
        xx = hn::MulAdd(x, u, xx);
        xy = hn::MulAdd(x, v, xy);
        xz = hn::MulAdd(x, w, xz);
        yx = hn::MulAdd(y, u, yx);
        yy = hn::MulAdd(y, v, yy);
        yz = hn::MulAdd(y, w, yz);
        zx = hn::MulAdd(z, u, zx);
        zy = hn::MulAdd(z, v, zy);
        zz = hn::MulAdd(z, w, zz);
    }
    const double n = total(count);
    const Vector* const p_sums[3] = {&px, &py, &pz};
    const Vector* const q_sums[3] = {&qx, &qy, &qz};
    const Vector* const products[9] = {&xx, &xy, &xz, &yx, &yy, &yz, &zx, &zy, &zz};
    for (int a = 0; a < 3; ++a) {
        p_mean[a] = total(*p_sums[a]) / n;
        q_mean[a] = total(*q_sums[a]) / n;
    }
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
            r[3 * a + b] = total(*products[3 * a + b]) - n * p_mean[a] * q_mean[b];
}

/// Distances of all atoms after turning p by `m` and moving it by `t`, and what is told of them.
void measure_all(const TmPair& pair, const double (&m)[9], const double (&t)[3], double scale,
                 Superposed& found) {
    const Doubles d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    const Vector one = hn::Set(d, 1.0), per_square = hn::Set(d, 1.0 / (scale * scale));
    Vector sum = hn::Zero(d);
    std::size_t within[4] = {};
    for (Index k = 0; k < pair.padded; k += lanes) {
        const Vector x = hn::LoadU(d, pair.p + k), y = hn::LoadU(d, pair.p + pair.padded + k),
                     z = hn::LoadU(d, pair.p + 2 * pair.padded + k);
        Vector square = hn::Zero(d);
        for (int axis = 0; axis < 3; ++axis) {
            const double* const row = m + 3 * axis;
            const Vector q = hn::LoadU(d, pair.q + axis * pair.padded + k);
            const Vector turned =
                hn::MulAdd(hn::Set(d, row[0]), x,
                           hn::MulAdd(hn::Set(d, row[1]), y,
                                      hn::MulAdd(hn::Set(d, row[2]), z, hn::Set(d, t[axis]))));
            const Vector difference = hn::Sub(turned, q);
            square = hn::MulAdd(difference, difference, square);
        }
        hn::StoreU(square, d, found.squares.data() + k);
        const auto real =
            hn::FirstN(d, static_cast<std::size_t>(std::clamp<Index>(pair.atoms - k, 0, lanes)));
        const Vector share = hn::Div(one, hn::MulAdd(square, per_square, one));
        sum = hn::Add(sum, hn::IfThenElseZero(real, share));
        for (int n = 0; n < 4; ++n) {
            const auto is_near = hn::Le(square, hn::Set(d, static_cast<double>(1 << 2 * n)));
            within[n] += hn::CountTrue(d, hn::And(is_near, real));
        }
    }
    found.sum = total(sum);
    for (int n = 0; n < 4; ++n) found.within[n] = static_cast<Index>(within[n]);
}

}  // namespace pleat::rmsd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::rmsd {
namespace {

HWY_EXPORT(masked_sums);
HWY_EXPORT(measure_all);

void rotation_by_jacobi(const double (&r)[9], double (&m)[9]) {
    double n[4][4], vectors[4][4];
    key_matrix(r, n);
    rotation_of(vectors, largest_eigenvector(n, vectors), m);
}

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

/// A column of the adjugate of (key matrix - root) is the quaternion. Where the root is not alone,
/// or not a number, Jacobi takes over.
void rotation_by_root(const double (&r)[9], double (&m)[9]) {
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
    constexpr double kLeastGaps = 1e-6;
    if (!(most > kLeastGaps * std::fabs(root * root * root))) return rotation_by_jacobi(r, m);
    rotation_of(best, 0, m);
}

void shift_of(const double (&m)[9], const double (&p_mean)[3], const double (&q_mean)[3],
              double (&t)[3]) {
    for (int a = 0; a < 3; ++a)
        t[a] = q_mean[a] -
               (m[3 * a] * p_mean[0] + m[3 * a + 1] * p_mean[1] + m[3 * a + 2] * p_mean[2]);
}

}  // namespace

void superpose_fast(const TmPair& pair, const double* mask, double scale, Superposed& found) {
    double p_mean[3], q_mean[3], r[9], m[9], t[3];
    HWY_DYNAMIC_DISPATCH(masked_sums)(pair, mask, p_mean, q_mean, r);
    rotation_by_root(r, m);
    shift_of(m, p_mean, q_mean, t);
    HWY_DYNAMIC_DISPATCH(measure_all)(pair, m, t, scale, found);
}

void superpose_reference(const TmPair& pair, const double* mask, double scale, Superposed& found) {
    double count = 0.0, p_mean[3] = {}, q_mean[3] = {}, r[9] = {}, m[9], t[3];
    const auto at = [&](const double* side, int axis, Index k) {
        return side[axis * pair.padded + k];
    };
    for (Index k = 0; k < pair.atoms; ++k) count += mask[k];
    for (Index k = 0; k < pair.atoms; ++k)
        for (int a = 0; a < 3; ++a) {
            p_mean[a] += mask[k] * at(pair.p, a, k) / count;
            q_mean[a] += mask[k] * at(pair.q, a, k) / count;
        }
    for (Index k = 0; k < pair.atoms; ++k)
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                r[3 * a + b] +=
                    mask[k] * (at(pair.p, a, k) - p_mean[a]) * (at(pair.q, b, k) - q_mean[b]);
    rotation_by_jacobi(r, m);
    shift_of(m, p_mean, q_mean, t);
    found.sum = 0.0;
    std::fill(std::begin(found.within), std::end(found.within), Index{0});
    for (Index k = 0; k < pair.atoms; ++k) {
        double square = 0.0;
        for (int a = 0; a < 3; ++a) {
            const double turned = m[3 * a] * at(pair.p, 0, k) + m[3 * a + 1] * at(pair.p, 1, k) +
                                  m[3 * a + 2] * at(pair.p, 2, k) + t[a];
            square += (turned - at(pair.q, a, k)) * (turned - at(pair.q, a, k));
        }
        found.squares[k] = square;
        found.sum += 1.0 / (1.0 + square / (scale * scale));
        for (int n = 0; n < 4; ++n) found.within[n] += square <= (1 << 2 * n);
    }
}

}  // namespace pleat::rmsd
#endif
