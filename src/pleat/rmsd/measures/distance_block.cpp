// Distance blocks: square roots and sums of squares, compiled for every instruction set.
#include "pleat/rmsd/measures/distance_block.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/rmsd/measures/distance_block.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::rmsd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, kPanel>;

/// Number of rows whose sums are in registers at the same time.
constexpr int kRows = HWY_TARGET <= HWY_AVX3 ? 8 : 4;

template <class Real>
AtomPair distances_of(const double* HWY_RESTRICT panel, const double* HWY_RESTRICT roots,
                      Index atoms, AtomPair at, Index count, Real* HWY_RESTRICT to) {
    const Doubles d;
    const hn::Rebind<Real, Doubles> narrow;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    for (Index n = 0; n < count; ++n, to += kPanel) {
        const double* const p = panel + at.k * 3 * kPanel;
        const double* const q = panel + at.l * 3 * kPanel;
        const auto root = hn::Set(d, roots[at.k] * roots[at.l]);
        for (Index lane = 0; lane < kPanel; lane += lanes) {
            const auto x = hn::Sub(hn::Load(d, p + lane), hn::Load(d, q + lane));
            const auto y = hn::Sub(hn::Load(d, p + kPanel + lane), hn::Load(d, q + kPanel + lane));
            const auto z =
                hn::Sub(hn::Load(d, p + 2 * kPanel + lane), hn::Load(d, q + 2 * kPanel + lane));
            const auto square = hn::MulAdd(x, x, hn::MulAdd(y, y, hn::Mul(z, z)));
            const auto distance = hn::Mul(root, hn::Sqrt(square));
            if constexpr (std::is_same_v<Real, double>)
                hn::Store(distance, d, to + lane);
            else
                hn::Store(hn::DemoteTo(narrow, distance), narrow, to + lane);
        }
        if (++at.l == atoms) {
            ++at.k;
            at.l = at.k + 1;
        }
    }
    return at;
}

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

template <int kCount, class D, class Real>
HWY_INLINE void add_rows(D d, const Real* HWY_RESTRICT rows, const Real* HWY_RESTRICT columns,
                         Index count, double* HWY_RESTRICT sums) {
    static_assert(kCount == 1 || kCount == 4 || kCount == 8);
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    const auto add = [&](auto& sum, auto q, int row) HWY_ATTR {
        const auto difference = hn::Sub(hn::Set(d, rows[row]), q);
        sum = hn::MulAdd(difference, difference, sum);
    };
    for (Index n = 0; n < count; ++n, rows += kPanel, columns += kPanel) {
        const auto q = hn::Load(d, columns);
        add(s0, q, 0);
        if constexpr (kCount >= 4) {
            add(s1, q, 1);
            add(s2, q, 2);
            add(s3, q, 3);
        }
        if constexpr (kCount >= 8) {
            add(s4, q, 4);
            add(s5, q, 5);
            add(s6, q, 6);
            add(s7, q, 7);
        }
    }
    const decltype(s0)* const all[8] = {&s0, &s1, &s2, &s3, &s4, &s5, &s6, &s7};
    for (int row = 0; row < kCount; ++row) add_to(d, *all[row], sums + row * kPanel);
}

template <class Real>
void squares_of(const Real* HWY_RESTRICT rows, Index row_count, const Real* HWY_RESTRICT columns,
                Index count, double* HWY_RESTRICT sums) {
    const hn::CappedTag<Real, kPanel> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    for (Index lane = 0; lane < kPanel; lane += lanes) {
        Index row = 0;
        for (; row + kRows <= row_count; row += kRows)
            add_rows<kRows>(d, rows + row, columns + lane, count, sums + row * kPanel + lane);
        for (; row < row_count; ++row)
            add_rows<1>(d, rows + row, columns + lane, count, sums + row * kPanel + lane);
    }
}

AtomPair distances_floats(const double* panel, const double* roots, Index atoms, AtomPair first,
                          Index count, float* to) {
    return distances_of(panel, roots, atoms, first, count, to);
}
AtomPair distances_doubles(const double* panel, const double* roots, Index atoms, AtomPair first,
                           Index count, double* to) {
    return distances_of(panel, roots, atoms, first, count, to);
}
void squares_floats(const float* rows, Index row_count, const float* columns, Index count,
                    double* sums) {
    squares_of(rows, row_count, columns, count, sums);
}
void squares_doubles(const double* rows, Index row_count, const double* columns, Index count,
                     double* sums) {
    squares_of(rows, row_count, columns, count, sums);
}

}  // namespace pleat::rmsd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::rmsd {
namespace {

HWY_EXPORT(distances_floats);
HWY_EXPORT(distances_doubles);
HWY_EXPORT(squares_floats);
HWY_EXPORT(squares_doubles);

}  // namespace

template <>
AtomPair panel_distances(const double* panel, const double* roots, Index atoms, AtomPair first,
                         Index count, float* to) {
    return HWY_DYNAMIC_DISPATCH(distances_floats)(panel, roots, atoms, first, count, to);
}
template <>
AtomPair panel_distances(const double* panel, const double* roots, Index atoms, AtomPair first,
                         Index count, double* to) {
    return HWY_DYNAMIC_DISPATCH(distances_doubles)(panel, roots, atoms, first, count, to);
}
template <>
void add_squares(const float* rows, Index row_count, const float* columns, Index count,
                 double* sums) {
    HWY_DYNAMIC_DISPATCH(squares_floats)(rows, row_count, columns, count, sums);
}
template <>
void add_squares(const double* rows, Index row_count, const double* columns, Index count,
                 double* sums) {
    HWY_DYNAMIC_DISPATCH(squares_doubles)(rows, row_count, columns, count, sums);
}

}  // namespace pleat::rmsd
#endif
