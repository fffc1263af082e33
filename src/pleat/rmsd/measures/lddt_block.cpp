// lDDT blocks: differences of distances counted by their exponents, for every instruction set.
#include "pleat/rmsd/measures/lddt_block.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/rmsd/measures/lddt_block.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::rmsd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, kPanel>;

/// Number of rows whose counts are in registers at the same time.
constexpr int kRows = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

void distances_of(const double* HWY_RESTRICT panel, std::span<const ListedPair> pairs,
                  PanelDistances& to) {
    const Doubles d;
    const hn::Rebind<float, Doubles> narrow;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    const auto radius = hn::Set(d, kInclusionRadius);
    // The largest float32 below the radius, so that rounding cannot move a distance across it.
    const auto below = hn::Set(d, 0x1.dffffep3);
    double* HWY_RESTRICT exact = to.exact;
    float* HWY_RESTRICT rounded = to.rounded;
    for (const ListedPair pair : pairs) {
        const double* const p = panel + Index{pair.k} * 3 * kPanel;
        const double* const q = panel + Index{pair.l} * 3 * kPanel;
        for (Index lane = 0; lane < kPanel; lane += lanes) {
            const auto x = hn::Sub(hn::Load(d, p + lane), hn::Load(d, q + lane));
            const auto y = hn::Sub(hn::Load(d, p + kPanel + lane), hn::Load(d, q + kPanel + lane));
            const auto z =
                hn::Sub(hn::Load(d, p + 2 * kPanel + lane), hn::Load(d, q + 2 * kPanel + lane));
            const auto distance =
                hn::Sqrt(hn::Add(hn::Add(hn::Mul(x, x), hn::Mul(y, y)), hn::Mul(z, z)));
            hn::Store(distance, d, exact + lane);
            const auto inside = hn::Lt(distance, radius);
            hn::Store(
                hn::DemoteTo(narrow, hn::IfThenElse(inside, hn::Min(distance, below), distance)),
                narrow, rounded + lane);
        }
        exact += kPanel;
        rounded += kPanel;
    }
}

bool near_in_any(const double* HWY_RESTRICT panels, Index count, Index atoms, ListedPair pair) {
    const Doubles d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    const auto limit = hn::Set(d, kInclusionRadius * kInclusionRadius * (1 + 1e-9));
    for (Index panel = 0; panel < count; ++panel, panels += atoms * 3 * kPanel) {
        const double* const p = panels + Index{pair.k} * 3 * kPanel;
        const double* const q = panels + Index{pair.l} * 3 * kPanel;
        for (Index lane = 0; lane < kPanel; lane += lanes) {
            auto square = hn::Zero(d);
            for (Index axis = lane; axis < 3 * kPanel; axis += kPanel) {
                const auto difference = hn::Sub(hn::Load(d, p + axis), hn::Load(d, q + axis));
                square = hn::MulAdd(difference, difference, square);
            }
            if (!hn::AllFalse(d, hn::Lt(square, limit))) return true;
        }
    }
    return false;
}

/// The bits of a difference.
template <class Real>
struct Bits {
    using Unsigned = std::conditional_t<std::is_same_v<Real, float>, std::uint32_t, std::uint64_t>;
    static constexpr int kMantissa = std::is_same_v<Real, float> ? 23 : 52;
    /// The exponent of 0.25; the difference of exponents is the number of missed thresholds.
    static constexpr Unsigned kBase = std::is_same_v<Real, float> ? 125 : 1021;
    /// Differences of float32 distances this close to a threshold, in units of the last place, are
    /// decided in float64. Distances up to 32 angstrom are rounded by up to 9.5e-7 angstrom, and
    /// those inside the radius by up to 4.8e-7 (9.5e-7 just below it); the difference of both is
    /// off by up to 2e-6 angstrom, 64 units just below the first threshold.
    static constexpr Unsigned kSlack = std::is_same_v<Real, float> ? 96 : 0;
};

/// Counts missed thresholds for kCount rows with one vector of columns: over distances below the
/// radius in the row, and over those in the column, each [row, kPanel]. Returns a bit per row, set
/// if a difference is too close to a threshold.
template <int kCount, class Real>
HWY_INLINE unsigned count_missed(const Real* HWY_RESTRICT rows, const Real* HWY_RESTRICT columns,
                                 Index count, typename Bits<Real>::Unsigned* HWY_RESTRICT of_rows,
                                 typename Bits<Real>::Unsigned* HWY_RESTRICT of_columns) {
    static_assert(kCount == 1 || kCount == 2 || kCount == 4);
    using B = Bits<Real>;
    using Unsigned = typename B::Unsigned;
    const hn::CappedTag<Real, kPanel> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    const auto radius = hn::Set(d, static_cast<Real>(kInclusionRadius));
    // Not at powers of two, so that equal distances are not close to a threshold.
    const auto low = hn::Set(d, Real(0.375)), high = hn::Set(d, Real(6));
    const auto offset = hn::Set(du, (B::kBase << B::kMantissa) - B::kSlack);
    const auto mantissa = hn::Set(du, (Unsigned{1} << B::kMantissa) - 1);
    auto r0 = hn::Zero(du), r1 = r0, r2 = r0, r3 = r0, c0 = r0, c1 = r0, c2 = r0, c3 = r0;
    auto n0 = mantissa, n1 = n0, n2 = n0, n3 = n0;
    for (Index n = 0; n < count; ++n, rows += kPanel, columns += kPanel) {
        const auto q = hn::Load(d, columns);
        const auto is_near = hn::RebindMask(du, hn::Lt(q, radius));
        const auto add = [&](auto& of_row, auto& of_column, auto& nearest, int row) HWY_ATTR {
            const auto p = hn::Set(d, rows[row]);
            const auto difference = hn::Min(hn::Max(hn::Abs(hn::Sub(p, q)), low), high);
            const auto bits = hn::Sub(hn::BitCast(du, difference), offset);
            const auto missed = hn::ShiftRight<B::kMantissa>(bits);
            of_row =
                hn::Add(of_row, hn::IfThenElseZero(hn::RebindMask(du, hn::Lt(p, radius)), missed));
            of_column = hn::Add(of_column, hn::IfThenElseZero(is_near, missed));
            if constexpr (B::kSlack > 0) nearest = hn::Min(nearest, hn::And(bits, mantissa));
        };
        add(r0, c0, n0, 0);
        if constexpr (kCount >= 2) add(r1, c1, n1, 1);
        if constexpr (kCount >= 4) {
            add(r2, c2, n2, 2);
            add(r3, c3, n3, 3);
        }
    }
    unsigned doubtful = 0;
    const auto keep = [&](auto of_row, auto of_column, auto nearest, int row) HWY_ATTR {
        hn::Store(of_row, du, of_rows + row * kPanel);
        hn::Store(of_column, du, of_columns + row * kPanel);
        if constexpr (B::kSlack > 0) {
            const auto is_close = hn::Lt(nearest, hn::Set(du, 2 * B::kSlack));
            if (!hn::AllFalse(du, is_close)) doubtful |= 1U << row;
        }
    };
    keep(r0, c0, n0, 0);
    if constexpr (kCount >= 2) keep(r1, c1, n1, 1);
    if constexpr (kCount >= 4) {
        keep(r2, c2, n2, 2);
        keep(r3, c3, n3, 3);
    }
    return doubtful;
}

/// Adds the thresholds that kCount rows miss with all columns.
template <int kCount>
HWY_INLINE void add_rows(const PanelDistances& rows, Index row, const PanelDistances& columns,
                         Index count, std::uint32_t* HWY_RESTRICT of_rows,
                         std::uint32_t* HWY_RESTRICT of_columns) {
    const hn::CappedTag<float, kPanel> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d)),
                exact_lanes = static_cast<Index>(hn::Lanes(Doubles()));
    alignas(64) std::uint32_t missed[2][kCount * kPanel];
    alignas(64) std::uint64_t exact[2][kPanel];
    for (Index lane = 0; lane < kPanel; lane += lanes) {
        const unsigned doubtful = count_missed<kCount>(rows.rounded + row, columns.rounded + lane,
                                                       count, missed[0] + lane, missed[1] + lane);
        if (HWY_LIKELY(doubtful == 0)) continue;
        for (int n = 0; n < kCount; ++n) {
            if ((doubtful >> n & 1U) == 0) continue;
            for (Index at = lane; at < lane + lanes; at += exact_lanes)
                count_missed<1>(rows.exact + row + n, columns.exact + at, count, exact[0] + at,
                                exact[1] + at);
            for (Index at = lane; at < lane + lanes; ++at)
                for (int side = 0; side < 2; ++side)
                    missed[side][n * kPanel + at] = static_cast<std::uint32_t>(exact[side][at]);
        }
    }
    for (Index n = 0; n < kCount * kPanel; ++n) {
        of_rows[row * kPanel + n] += missed[0][n];
        of_columns[row * kPanel + n] += missed[1][n];
    }
}

void missed_of(const PanelDistances& rows, Index row_count, const PanelDistances& columns,
               Index count, std::uint32_t* of_rows, std::uint32_t* of_columns) {
    Index row = 0;
    for (; row + kRows <= row_count; row += kRows)
        add_rows<kRows>(rows, row, columns, count, of_rows, of_columns);
    for (; row < row_count; ++row) add_rows<1>(rows, row, columns, count, of_rows, of_columns);
}

}  // namespace pleat::rmsd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::rmsd {
namespace {

HWY_EXPORT(distances_of);
HWY_EXPORT(near_in_any);
HWY_EXPORT(missed_of);

}  // namespace

void panel_distances(const double* panel, std::span<const ListedPair> pairs, PanelDistances& to) {
    HWY_DYNAMIC_DISPATCH(distances_of)(panel, pairs, to);
}
bool may_be_near(const double* panels, Index count, Index atoms, ListedPair pair) {
    return HWY_DYNAMIC_DISPATCH(near_in_any)(panels, count, atoms, pair);
}
void add_missed(const PanelDistances& rows, Index row_count, const PanelDistances& columns,
                Index count, std::uint32_t* of_rows, std::uint32_t* of_columns) {
    HWY_DYNAMIC_DISPATCH(missed_of)(rows, row_count, columns, count, of_rows, of_columns);
}

}  // namespace pleat::rmsd
#endif
