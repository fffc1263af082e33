// Pair block: fused multiply-adds and Newton's steps, compiled for every instruction set.
#include "pleat/rmsd/kernel/pair_block.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/rmsd/kernel/pair_block.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::rmsd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, kPanel>;
using Vector = hn::Vec<Doubles>;

/// Number of rows processed at a time: their sums fill the registers.
constexpr int kRows = HWY_TARGET <= HWY_AVX3 ? 3 : 1;
/// Number of atoms whose products are summed in the narrow type before the sums are added in
/// float64: few enough that rounding grows only with the number of atoms, and that their part of a
/// panel stays in the L1 cache.
inline Index chunk_of(Index atoms) {
    const auto even = static_cast<Index>(4.0 * std::sqrt(static_cast<double>(atoms)));
    return std::clamp<Index>(even / 8 * 8, 32, 128);
}

/// The nine sums of a row and a vector of columns.
template <class V>
struct Sums {
    V xx, xy, xz, yx, yy, yz, zx, zy, zz;

    template <class D>
    HWY_INLINE explicit Sums(D d)
        : xx(hn::Zero(d)), xy(xx), xz(xx), yx(xx), yy(xx), yz(xx), zx(xx), zy(xx), zz(xx) {}

    template <class D, class T>
    HWY_INLINE void add(D d, const T* HWY_RESTRICT p, V qx, V qy, V qz) {
        add(hn::Set(d, p[0]), hn::Set(d, p[1]), hn::Set(d, p[2]), qx, qy, qz);
    }
    HWY_INLINE void add(V x, V y, V z, V qx, V qy, V qz) {
        xx = hn::MulAdd(x, qx, xx);
        xy = hn::MulAdd(x, qy, xy);
        xz = hn::MulAdd(x, qz, xz);
        yx = hn::MulAdd(y, qx, yx);
        yy = hn::MulAdd(y, qy, yy);
        yz = hn::MulAdd(y, qz, yz);
        zx = hn::MulAdd(z, qx, zx);
        zy = hn::MulAdd(z, qy, zy);
        zz = hn::MulAdd(z, qz, zz);
    }
};

/// Adds one vector of sums to float64 at `to`.
template <class D, class V>
HWY_INLINE void add_to(D d, V sums, double* HWY_RESTRICT to) {
    const Doubles dd;
    if constexpr (std::is_same_v<hn::TFromD<D>, double>) {
        hn::Store(hn::Add(hn::Load(dd, to), sums), dd, to);
    } else {
        const hn::Rebind<float, Doubles> half;
        alignas(64) float narrow[kPanel];
        hn::Store(sums, d, narrow);
        for (std::size_t lane = 0; lane < hn::Lanes(d); lane += hn::Lanes(dd))
            hn::Store(
                hn::Add(hn::Load(dd, to + lane), hn::PromoteTo(dd, hn::Load(half, narrow + lane))),
                dd, to + lane);
    }
}

template <class D, class V>
HWY_INLINE void add_sums(D d, const Sums<V>& s, double* HWY_RESTRICT to) {
    const V* const all[9] = {&s.xx, &s.xy, &s.xz, &s.yx, &s.yy, &s.yz, &s.zx, &s.zy, &s.zz};
    for (int entry = 0; entry < 9; ++entry) add_to(d, *all[entry], to + entry * kPanel);
}

/// Adds the products of `atoms` atoms of kCount rows and the panel's lanes from `lane` on.
template <int kCount, class D, class T>
HWY_INLINE void add_products(D d, const T* HWY_RESTRICT rows, Index row_size,
                             const T* HWY_RESTRICT q, Index atoms,
                             double* HWY_RESTRICT covariance) {
    using V = hn::Vec<D>;
    Sums<V> first(d), second(d), third(d);
    for (Index k = 0; k < atoms; ++k, q += 3 * kPanel, rows += 3) {
        const V qx = hn::Load(d, q), qy = hn::Load(d, q + kPanel), qz = hn::Load(d, q + 2 * kPanel);
        first.add(d, rows, qx, qy, qz);
        if constexpr (kCount > 1) second.add(d, rows + row_size, qx, qy, qz);
        if constexpr (kCount > 2) third.add(d, rows + 2 * row_size, qx, qy, qz);
    }
    add_sums(d, first, covariance);
    if constexpr (kCount > 1) add_sums(d, second, covariance + 9 * kPanel);
    if constexpr (kCount > 2) add_sums(d, third, covariance + 18 * kPanel);
}

template <class T>
HWY_INLINE void multiply(const Packed<T>& packed, Block rows, Index panel,
                         double* HWY_RESTRICT to) {
    const hn::CappedTag<T, kPanel> d;
    const Index atoms = packed.atoms, row_size = 3 * atoms;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    std::fill(to, to + rows.count * 9 * kPanel, 0.0);
    const Index chunk = chunk_of(atoms);
    for (Index k = 0; k < atoms; k += chunk) {
        const Index count = std::min(chunk, atoms - k);
        const T* const p = packed.rows.data() + rows.first * row_size + 3 * k;
        const T* const q = packed.columns.data() + (panel * atoms + k) * 3 * kPanel;
        Index row = 0;
        for (; row + kRows <= rows.count; row += kRows)
            for (Index lane = 0; lane < kPanel; lane += lanes)
                add_products<kRows>(d, p + row * row_size, row_size, q + lane, count,
                                    to + row * 9 * kPanel + lane);
        for (; row < rows.count; ++row)
            for (Index lane = 0; lane < kPanel; lane += lanes)
                add_products<1>(d, p + row * row_size, row_size, q + lane, count,
                                to + row * 9 * kPanel + lane);
    }
}

/// Computes the covariance of one pair of frames [axis, atom], with vectors over atoms, into `to`
/// with stride kPanel.
HWY_INLINE void multiply_pair(const double* HWY_RESTRICT p, const double* HWY_RESTRICT q,
                              Index atoms, double* HWY_RESTRICT to) {
    const Doubles d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    Sums<Vector> s(d);
    Index k = 0;
    for (; k + lanes <= atoms; k += lanes)
        s.add(hn::LoadU(d, p + k), hn::LoadU(d, p + atoms + k), hn::LoadU(d, p + 2 * atoms + k),
              hn::LoadU(d, q + k), hn::LoadU(d, q + atoms + k), hn::LoadU(d, q + 2 * atoms + k));
    const Vector* const all[9] = {&s.xx, &s.xy, &s.xz, &s.yx, &s.yy, &s.yz, &s.zx, &s.zy, &s.zz};
    for (int entry = 0; entry < 9; ++entry) {
        double sum = hn::GetLane(hn::SumOfLanes(d, *all[entry]));
        for (Index rest = k; rest < atoms; ++rest)
            sum += p[entry / 3 * atoms + rest] * q[entry % 3 * atoms + rest];
        to[entry * kPanel] = sum;
    }
}

/// P(x) = (x^2 - f)^2 - 8 d x - 4 c, whose largest root is the sum that superposition reaches: f, c
/// and d are the squares of the covariance, those of its minors, and its determinant.
struct Quartic {
    Vector f, d8, c4;

    /// The coefficients f, c and d of the covariance entries r, scaled so that no root is above 1.
    HWY_INLINE explicit Quartic(const Vector (&r)[9]) : f(hn::Mul(r[0], r[0])), d8(f), c4(f) {
        const Doubles d;
        for (int entry = 1; entry < 9; ++entry) f = hn::MulAdd(r[entry], r[entry], f);
        c4 = hn::Zero(d);
        Vector determinant = c4;
        for (int a = 0; a < 3; ++a) {
            const int u = 3 * ((a + 1) % 3), v = 3 * ((a + 2) % 3);
            for (int b = 0; b < 3; ++b) {
                const int s = (b + 1) % 3, t = (b + 2) % 3;
                const Vector minor = hn::NegMulAdd(r[u + t], r[v + s], hn::Mul(r[u + s], r[v + t]));
                c4 = hn::MulAdd(minor, minor, c4);
                if (a == 0) determinant = hn::MulAdd(r[b], minor, determinant);
            }
        }
        c4 = hn::Mul(hn::Set(d, 4.0), c4);
        d8 = hn::Mul(hn::Set(d, 8.0), determinant);
    }

    /// An upper bound of the largest root.
    HWY_INLINE Vector start() const {
        const Doubles d;
        return hn::Min(hn::Set(d, 1.0), hn::Sqrt(hn::Mul(hn::Set(d, 3.0), f)));
    }
    HWY_INLINE Vector slope(Vector x) const {
        const Doubles d;
        const Vector t = hn::Sub(hn::Mul(x, x), f);
        return hn::Sub(hn::Mul(hn::Mul(hn::Set(d, 4.0), x), t), d8);
    }
    /// One Newton step downwards; 0 / 0 if all roots are 0.
    HWY_INLINE Vector step(Vector x) const {
        const Vector t = hn::Sub(hn::Mul(x, x), f);
        const Vector p = hn::NegMulAdd(d8, x, hn::Sub(hn::Mul(t, t), c4));
        return hn::Div(p, slope(x));
    }
};

/// Tolerance, rounding error and total weight, the same for all pairs of frames.
struct Limits {
    double tolerance;      ///< angstrom
    double product_error;  ///< of the sum reached, in units of both frames' spread
    double weight;
};

/// Loads a vector of covariances, adds terms of single frames, and scales them so that their
/// largest root is at most 1.
HWY_INLINE Quartic load_quartic(const double* HWY_RESTRICT covariance,
                                const double* HWY_RESTRICT row_terms,
                                const double* HWY_RESTRICT column_terms, Vector scale) {
    const Doubles d;
    Vector r[9];
    for (int entry = 0; entry < 9; ++entry) {
        const Vector own =
            hn::Add(hn::Load(d, column_terms + entry * kPanel), hn::Set(d, row_terms[entry]));
        r[entry] = hn::Mul(scale, hn::Add(hn::Load(d, covariance + entry * kPanel), own));
    }
    return Quartic(r);
}

/// Newton's method from above, on a polynomial with four real roots: P is convex there, so that
/// steps never pass the largest root, which lies within four steps' length. After a step of at most
/// kStep, P' being at least kSlope, the remaining error is at most 6 (4 kStep)^2 / kSlope < 1e-11
/// and in practice below rounding.
constexpr double kStep = 3e-9, kSlope = 1e-4;
/// Rounding error of P, whose terms are at most 1, as an error of the root if P' is 1.
constexpr double kRounding = 5e-15;
constexpr int kMaxSteps = 12;

/// [lane]: terms of single frames on one side that the solver needs.
struct Side {
    const double* square_sum;
    const double* inverse_norm;
    const double* deviation_norm;
};

/// Solves kPanel pairs.
HWY_INLINE void solve(const double* HWY_RESTRICT covariance, const double* HWY_RESTRICT row_terms,
                      const double* HWY_RESTRICT column_terms, const Side& p_side,
                      const Side& q_side, const Limits& limits, double* HWY_RESTRICT values,
                      double* HWY_RESTRICT doubts) {
    const Doubles d;
    constexpr Index kLanes = HWY_LANES(double) < kPanel ? HWY_LANES(double) : kPanel;
    constexpr int kVectors = kPanel / kLanes, kTogether = kVectors < 2 ? 1 : 2;
    for (int first = 0; first < kVectors; first += kTogether) {
        const Index at0 = first * kLanes, at1 = (first + kTogether - 1) * kLanes;
        const Vector scale0 =
            hn::Mul(hn::Load(d, p_side.inverse_norm + at0), hn::Load(d, q_side.inverse_norm + at0));
        const Vector scale1 =
            hn::Mul(hn::Load(d, p_side.inverse_norm + at1), hn::Load(d, q_side.inverse_norm + at1));
        const Quartic p0 = load_quartic(covariance + at0, row_terms, column_terms + at0, scale0);
        const Quartic p1 = load_quartic(covariance + at1, row_terms, column_terms + at1, scale1);
        Vector x0 = p0.start(), x1 = p1.start(), step0 = x0, step1 = x1;
        // A lane that has converged stops, so that its value does not depend on the other lanes.
        // NaN counts as converged.
        const Vector converged = hn::Set(d, kStep);
        auto active0 = hn::Eq(x0, x0), active1 = hn::Eq(x1, x1);
        for (int n = 0; n < kMaxSteps; ++n) {
            step0 = hn::IfThenElseZero(active0, p0.step(x0));
            step1 = hn::IfThenElseZero(active1, p1.step(x1));
            x0 = hn::Sub(x0, step0);
            x1 = hn::Sub(x1, step1);
            // At a multiple root, rounding makes steps of either sign.
            active0 = hn::Ge(hn::Abs(step0), converged);
            active1 = hn::Ge(hn::Abs(step1), converged);
            if (hn::AllFalse(d, hn::Or(active0, active1))) break;
        }
        const auto finish = [&](Vector x, Vector step, const Quartic& p, Index at) {
            const Vector slope = p.slope(x);
            const Vector own = hn::Load(d, p_side.square_sum + at),
                         other = hn::Load(d, q_side.square_sum + at);
            const Vector size = hn::Sqrt(hn::Mul(own, other));
            const Vector reached = hn::Mul(hn::Add(x, x), size);
            const Vector difference = hn::Sub(hn::Add(own, other), reached);
            const Vector per_weight = hn::Set(d, 1.0 / limits.weight);
            const Vector square = hn::Mul(hn::Max(difference, hn::Zero(d)), per_weight);
            const Vector root_error = hn::Div(hn::Set(d, kRounding), slope);
            const Vector product = hn::Mul(hn::Set(d, limits.product_error),
                                           hn::Mul(hn::Load(d, p_side.deviation_norm + at),
                                                   hn::Load(d, q_side.deviation_norm + at)));
            // Half of the error of the mean square.
            const Vector error = hn::Mul(hn::MulAdd(root_error, size, product), per_weight);
            const Vector allowed = hn::Mul(hn::Set(d, limits.tolerance), hn::Sqrt(square));
            // Comparisons with NaN are false, so NaN counts as doubtful.
            const auto certain =
                hn::And(hn::And(hn::Lt(error, allowed), hn::Gt(slope, hn::Set(d, kSlope))),
                        hn::Lt(hn::Abs(step), hn::Set(d, kStep)));
            hn::Store(hn::Sqrt(square), d, values + at);
            hn::Store(hn::IfThenElse(certain, hn::Zero(d), hn::Set(d, 1.0)), d, doubts + at);
        };
        finish(x0, step0, p0, at0);
        if (kTogether > 1) finish(x1, step1, p1, at1);
    }
}

/// Error of a sum of products relative to both spreads. Each addition rounds a sum of up to a
/// chunk's products; such sums grow evenly and roundings accumulate randomly. Trials never exceeded
/// twice this estimate (bench/rmsd.md).
template <class T>
double product_error(Index atoms, Index chunk) {
    const double added =
        static_cast<double>(std::is_same_v<T, float> ? std::min(chunk, atoms) : atoms);
    const double unit = 0.5 * std::numeric_limits<T>::epsilon();
    return 2.0 * unit * (0.5 * added + 1.0) / std::sqrt(static_cast<double>(atoms));
}

template <class T>
void rmsd_of(const Packed<T>& packed, Block rows, Index panel, double tolerance,
             BlockScratch& scratch) {
    multiply(packed, rows, panel, scratch.covariance.data());
    scratch.doubtful.clear();
    const Limits limits{tolerance, product_error<T>(packed.atoms, chunk_of(packed.atoms)),
                        packed.weight};
    alignas(64) double values[kPanel], doubts[kPanel], of_row[3][kPanel];
    const Index from = panel * kPanel;
    const Side columns{packed.square_sum.data() + from, packed.inverse_norm.data() + from,
                       packed.deviation_norm.data() + from};
    for (Index row = 0; row < rows.count; ++row) {
        const Index i = rows.first + row;
        std::fill_n(of_row[0], kPanel, packed.square_sum[i]);
        std::fill_n(of_row[1], kPanel, packed.inverse_norm[i]);
        std::fill_n(of_row[2], kPanel, packed.deviation_norm[i]);
        solve(scratch.covariance.data() + row * 9 * kPanel, packed.row_terms[i].data,
              packed.column_terms[panel].data, {of_row[0], of_row[1], of_row[2]}, columns, limits,
              values, doubts);
        for (Index lane = 0; lane < kPanel; ++lane) {
            scratch.rmsd(row, lane) = static_cast<float>(values[lane]);
            if (doubts[lane] != 0.0) scratch.doubtful.emplace_back(row, lane);
        }
    }
}

std::uint32_t rmsd_listed(const Frames& frames, const FramePair* pairs, int count, double tolerance,
                          float* rmsd) {
    const Index atoms = frames.atom_count();
    alignas(64) double covariance[9 * kPanel] = {}, none[9 * kPanel] = {},
                                      square_sum[2][kPanel] = {}, inverse_norm[2][kPanel] = {},
                                      root[2][kPanel] = {}, values[kPanel], doubts[kPanel];
    for (int n = 0; n < count; ++n) {
        multiply_pair(frames.frame(pairs[n].i), frames.frame(pairs[n].j), atoms, covariance + n);
        for (int side = 0; side < 2; ++side) {
            square_sum[side][n] = frames.square_sum[side == 0 ? pairs[n].i : pairs[n].j];
            root[side][n] = std::sqrt(square_sum[side][n]);
            inverse_norm[side][n] = square_sum[side][n] > 0 ? 1.0 / root[side][n] : 0.0;
        }
    }
    const Limits limits{tolerance, product_error<double>(atoms, atoms), frames.weight};
    solve(covariance, none, none, {square_sum[0], inverse_norm[0], root[0]},
          {square_sum[1], inverse_norm[1], root[1]}, limits, values, doubts);
    std::uint32_t doubtful = 0;
    for (int n = 0; n < count; ++n) {
        rmsd[n] = static_cast<float>(values[n]);
        if (doubts[n] != 0.0) doubtful |= std::uint32_t{1} << n;
    }
    return doubtful;
}

void rmsd_floats(const Packed<float>& packed, Block rows, Index panel, double tolerance,
                 BlockScratch& scratch) {
    rmsd_of(packed, rows, panel, tolerance, scratch);
}
void rmsd_doubles(const Packed<double>& packed, Block rows, Index panel, double tolerance,
                  BlockScratch& scratch) {
    rmsd_of(packed, rows, panel, tolerance, scratch);
}

}  // namespace pleat::rmsd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::rmsd {
namespace {

HWY_EXPORT(rmsd_floats);
HWY_EXPORT(rmsd_listed);
HWY_EXPORT(rmsd_doubles);

}  // namespace

void rmsd_block(const Packed<float>& packed, Block rows, Index panel, double tolerance,
                BlockScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(rmsd_floats)(packed, rows, panel, tolerance, scratch);
}
void rmsd_block(const Packed<double>& packed, Block rows, Index panel, double tolerance,
                BlockScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(rmsd_doubles)(packed, rows, panel, tolerance, scratch);
}

std::uint32_t rmsd_pairs(const Frames& frames, const FramePair* pairs, int count, double tolerance,
                         float* rmsd) {
    return HWY_DYNAMIC_DISPATCH(rmsd_listed)(frames, pairs, count, tolerance, rmsd);
}

}  // namespace pleat::rmsd
#endif
