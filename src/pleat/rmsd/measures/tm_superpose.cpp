// TM superposition: a chosen set of atoms superposed and all measured, plainly and with vectors.
#include <algorithm>

#include "pleat/rmsd/measures/tm_search.h"
#include "pleat/rmsd/superposition/superpose.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/rmsd/measures/tm_superpose.cpp"
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

/// Means and covariance of the masked atoms. These are near the origin compared with their spread,
/// so the means can be subtracted after summing.
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

/// Rotates p by `m` and translates it by `t`; computes the distances of all atoms, and their sum
/// and counts.
void measure_all(const TmPair& pair, const double (&m)[9], const double (&t)[3], double scale,
                 Superposed& result) {
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
        hn::StoreU(square, d, result.squares.data() + k);
        const auto real =
            hn::FirstN(d, static_cast<std::size_t>(std::clamp<Index>(pair.atoms - k, 0, lanes)));
        const Vector share = hn::Div(one, hn::MulAdd(square, per_square, one));
        sum = hn::Add(sum, hn::IfThenElseZero(real, share));
        for (int n = 0; n < 4; ++n) {
            const auto is_near = hn::Le(square, hn::Set(d, static_cast<double>(1 << 2 * n)));
            within[n] += hn::CountTrue(d, hn::And(is_near, real));
        }
    }
    result.sum = total(sum);
    for (int n = 0; n < 4; ++n) result.within[n] = static_cast<Index>(within[n]);
}

Index select_near(const double* HWY_RESTRICT squares, Index atoms, Index padded, double limit,
                  double* HWY_RESTRICT mask, std::uint64_t* HWY_RESTRICT bits) {
    const Doubles d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    const Vector max_square = hn::Set(d, limit);
    std::size_t count = 0;
    for (Index k = 0; k < padded; k += lanes) {
        const auto real =
            hn::FirstN(d, static_cast<std::size_t>(std::clamp<Index>(atoms - k, 0, lanes)));
        const auto is_near = hn::And(real, hn::Lt(hn::LoadU(d, squares + k), max_square));
        hn::StoreU(hn::IfThenElseZero(is_near, hn::Set(d, 1.0)), d, mask + k);
        std::uint8_t some[8] = {};
        hn::StoreMaskBits(d, is_near, some);
        bits[k / 64] |= std::uint64_t{some[0]} << (k % 64);
        count += hn::CountTrue(d, is_near);
    }
    return static_cast<Index>(count);
}

}  // namespace pleat::rmsd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::rmsd {
namespace {

HWY_EXPORT(masked_sums);
HWY_EXPORT(measure_all);
HWY_EXPORT(select_near);

void shift_of(const double (&m)[9], const double (&p_mean)[3], const double (&q_mean)[3],
              double (&t)[3]) {
    for (int a = 0; a < 3; ++a)
        t[a] = q_mean[a] -
               (m[3 * a] * p_mean[0] + m[3 * a + 1] * p_mean[1] + m[3 * a + 2] * p_mean[2]);
}

}  // namespace

Index near_atoms(const std::vector<double>& squares, Index atoms, double limit,
                 std::vector<double>& mask, std::vector<std::uint64_t>& bits) {
    std::ranges::fill(bits, 0);
    return HWY_DYNAMIC_DISPATCH(select_near)(squares.data(), atoms, std::ssize(mask), limit,
                                             mask.data(), bits.data());
}

void superpose_fast(const TmPair& pair, const double* mask, double scale, Superposed& result) {
    double p_mean[3], q_mean[3], r[9], m[9], t[3];
    HWY_DYNAMIC_DISPATCH(masked_sums)(pair, mask, p_mean, q_mean, r);
    rotation_of_covariance(r, m);
    shift_of(m, p_mean, q_mean, t);
    HWY_DYNAMIC_DISPATCH(measure_all)(pair, m, t, scale, result);
}

void superpose_reference(const TmPair& pair, const double* mask, double scale, Superposed& result) {
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
    result.sum = 0.0;
    std::fill(std::begin(result.within), std::end(result.within), Index{0});
    for (Index k = 0; k < pair.atoms; ++k) {
        double square = 0.0;
        for (int a = 0; a < 3; ++a) {
            const double turned = m[3 * a] * at(pair.p, 0, k) + m[3 * a + 1] * at(pair.p, 1, k) +
                                  m[3 * a + 2] * at(pair.p, 2, k) + t[a];
            square += (turned - at(pair.q, a, k)) * (turned - at(pair.q, a, k));
        }
        result.squares[k] = square;
        result.sum += 1.0 / (1.0 + square / (scale * scale));
        for (int n = 0; n < 4; ++n) result.within[n] += square <= (1 << 2 * n);
    }
}

}  // namespace pleat::rmsd
#endif
