// Plane counts: AND, population count and table look-up, compiled for every instruction set.
#include "pleat/mutual_information/kernel/plane_counts.h"

#include <numeric>
#include <span>
#include <vector>

#define HWY_WANT_AVX3_DL 1  // its population count of 64-bit lanes is one instruction
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/mutual_information/kernel/plane_counts.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::mutual_information::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::uint64_t, kLanes>;
using Numbers = hn::RebindToSigned<Words>;
using Reals = hn::RebindToFloat<Words>;
using Vector = hn::Vec<Words>;
using Signed = hn::Vec<Numbers>;

/// Bits set in each 64-bit lane. Targets without a 64-bit population count sum the counts of bytes;
/// the scalar target has no such sum.
template <class V>
HWY_INLINE V count_bits(V bits) {
    if constexpr (HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_SCALAR) {
        return hn::PopulationCount(bits);
    } else {
        const hn::Repartition<std::uint8_t, hn::DFromV<V>> bytes;
        return SumsOf8(hn::PopulationCount(hn::BitCast(bytes, bits)));
    }
}

/// F of each lane's count.
HWY_INLINE Signed look_up(const std::int64_t* HWY_RESTRICT f, Vector counts) {
    const Numbers d;
    return hn::GatherIndex(d, f, hn::BitCast(d, counts));
}

/// Rows in common between plane `a` and each of kCells planes from `b` on, `stride` apart; `words`
/// words of kLanes each.
template <int kCells>
HWY_INLINE void count_cells(const std::uint64_t* HWY_RESTRICT a,
                            const std::uint64_t* HWY_RESTRICT b, Index stride, Index words,
                            Vector* HWY_RESTRICT n) {
    const Words d;
    Vector n0 = hn::Zero(d), n1 = n0, n2 = n0, n3 = n0;
    for (Index at = 0; at < words * kLanes; at += kLanes) {
        const Vector rows = hn::Load(d, a + at);
        n0 = hn::Add(n0, count_bits(hn::And(rows, hn::Load(d, b + at))));
        if constexpr (kCells > 1)
            n1 = hn::Add(n1, count_bits(hn::And(rows, hn::Load(d, b + stride + at))));
        if constexpr (kCells > 2)
            n2 = hn::Add(n2, count_bits(hn::And(rows, hn::Load(d, b + 2 * stride + at))));
        if constexpr (kCells > 3)
            n3 = hn::Add(n3, count_bits(hn::And(rows, hn::Load(d, b + 3 * stride + at))));
    }
    n[0] = n0;
    if constexpr (kCells > 1) n[1] = n1;
    if constexpr (kCells > 2) n[2] = n2;
    if constexpr (kCells > 3) n[3] = n3;
}

/// Counts the cells of plane `a` with `count` planes from `b` on. Subtracts each from the uncounted
/// rows of its symbol, `left`, and all from those of a, `left_of_a`. Returns the sum of F over the
/// cells, or 0 if none can be above 1.
HWY_INLINE Signed count_row(const std::uint64_t* HWY_RESTRICT a,
                            const std::uint64_t* HWY_RESTRICT b, int count, Index stride,
                            Index words, const std::int64_t* HWY_RESTRICT f, bool any_above_1,
                            Vector* HWY_RESTRICT left, Vector& left_of_a) {
    Signed t = hn::Zero(Numbers());
    Vector n[4];
    for (int done = 0; done < count; done += 4) {
        const std::uint64_t* const from = b + done * stride;
        const int cells = std::min(4, count - done);
        switch (cells) {
            case 4: count_cells<4>(a, from, stride, words, n); break;
            case 3: count_cells<3>(a, from, stride, words, n); break;
            case 2: count_cells<2>(a, from, stride, words, n); break;
            default: count_cells<1>(a, from, stride, words, n);
        }
        for (int cell = 0; cell < cells; ++cell) {
            left[done + cell] = hn::Sub(left[done + cell], n[cell]);
            left_of_a = hn::Sub(left_of_a, n[cell]);
            if (any_above_1) t = hn::Add(t, look_up(f, n[cell]));
        }
    }
    return t;
}

/// The cells of symbol 0, which contain the rows that no other cell has.
HWY_INLINE Signed count_left(const Vector* HWY_RESTRICT left, int count, Vector corner,
                             const std::int64_t* HWY_RESTRICT f) {
    Signed t = hn::Zero(Numbers());
    for (int b = 0; b < count; ++b) {
        t = hn::Add(t, look_up(f, left[b]));
        corner = hn::Sub(corner, left[b]);
    }
    return hn::Add(t, look_up(f, corner));
}

/// The sums of NullSums for one item, one per lane.
struct Accumulator {
    Signed less_count, equal_count, first, second, third_low, third_high;

    HWY_INLINE void load(const SumsByLane& sums, Index lane) {
        const Numbers d;
        less_count = hn::Load(d, sums.rows[0] + lane);
        equal_count = hn::Load(d, sums.rows[1] + lane);
        first = hn::Load(d, sums.rows[2] + lane);
        second = hn::Load(d, sums.rows[3] + lane);
        third_low = hn::Load(d, sums.rows[4] + lane);
        third_high = hn::Load(d, sums.rows[5] + lane);
    }
    HWY_INLINE void store(SumsByLane& sums, Index lane) const {
        const Numbers d;
        hn::Store(less_count, d, sums.rows[0] + lane);
        hn::Store(equal_count, d, sums.rows[1] + lane);
        hn::Store(first, d, sums.rows[2] + lane);
        hn::Store(second, d, sums.rows[3] + lane);
        hn::Store(third_low, d, sums.rows[4] + lane);
        hn::Store(third_high, d, sums.rows[5] + lane);
    }
};

/// A product of numbers below 2^31 in size.
template <class V>
HWY_INLINE V product(V a, V b) {
    if constexpr (HWY_TARGET == HWY_SCALAR) {
        return V(a.raw * b.raw);
    } else {
        const hn::Repartition<std::int32_t, hn::DFromV<V>> halves;
        return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b));
    }
}

/// Divides by 2^shift, rounding half up.
HWY_INLINE Signed scaled_down(Signed difference, int shift) {
    const Numbers d;
    if (shift == 0) return difference;
    const Signed half = hn::Set(d, std::int64_t{1} << (shift - 1));
    return hn::ShiftRightSame(hn::Add(difference, half), shift);
}

/// Adds T of the lanes that are `valid` (all bits, or none); returns d.
HWY_INLINE Signed accumulate(Accumulator& sums, Signed t, std::int64_t observed, int shift,
                             Signed valid) {
    const Numbers d;
    const Signed difference = hn::Sub(t, hn::Set(d, observed)), zero = hn::Zero(d);
    const Signed below = hn::VecFromMask(d, hn::Lt(difference, zero));
    const Signed same = hn::VecFromMask(d, hn::Eq(difference, zero));
    // A true lane of a mask is the integer -1.
    sums.less_count = hn::Sub(sums.less_count, hn::And(below, valid));
    sums.equal_count = hn::Sub(sums.equal_count, hn::And(same, valid));
    const Signed step = hn::And(scaled_down(difference, shift), valid);
    const Signed square = product(step, step);
    // The cube has 60 bits: from the upper and the lower 20 of the square.
    const Signed low = hn::And(square, hn::Set(d, 0xfffff));
    const Signed cube =
        hn::Add(hn::ShiftLeft<20>(product(hn::ShiftRight<20>(square), step)), product(low, step));
    sums.first = hn::Add(sums.first, step);
    sums.second = hn::Add(sums.second, square);
    sums.third_low = hn::Add(sums.third_low, hn::And(cube, hn::Set(d, 0xffffffff)));
    sums.third_high = hn::Add(sums.third_high, hn::ShiftRight<32>(cube));
    return step;
}

HWY_INLINE Signed valid_lanes(Index lane, Index valid) {
    const Numbers d;
    return hn::VecFromMask(d, hn::Lt(hn::Iota(d, lane), hn::Set(d, valid)));
}

/// T of two columns in one group, for the lanes of one vector.
HWY_INLINE Signed pair_statistic(const std::uint64_t* HWY_RESTRICT i,
                                 std::span<const Index> margin_i,
                                 const std::uint64_t* HWY_RESTRICT j,
                                 std::span<const Index> margin_j, Index words,
                                 const std::int64_t* HWY_RESTRICT f) {
    const Words d;
    const Index stride = words * kLanes;
    const int count = static_cast<int>(margin_j.size()) - 1;
    Vector left[kMaxSymbols];
    for (int b = 0; b < count; ++b) left[b] = hn::Set(d, margin_j[b + 1]);
    Signed t = hn::Zero(Numbers());
    for (std::size_t a = 1; a < margin_i.size(); ++a) {
        Vector left_of_a = hn::Set(d, margin_i[a]);
        t = hn::Add(t, count_row(i + (a - 1) * stride, j, count, stride, words, f, margin_i[a] > 1,
                                 left, left_of_a));
        if (margin_i[a] > 1) t = hn::Add(t, look_up(f, left_of_a));
    }
    return hn::Add(t, count_left(left, count, hn::Set(d, margin_i[0]), f));
}

void count_pair(const PlaneGroups& groups, const PairTarget& target,
                double* HWY_RESTRICT max_z_by_lane, SumsByLane& sums) {
    const Numbers d;
    const Reals reals;
    const std::span<const Index> margin_i = groups.columns->margin(target.i);
    const std::span<const Index> margin_j = groups.columns->margin(target.j);
    for (Index lane = 0; lane < kLanes; lane += static_cast<Index>(hn::Lanes(d))) {
        Accumulator at;
        at.load(sums, lane);
        for (Index group = groups.first; group < groups.last; ++group) {
            const Signed t = pair_statistic(groups.planes(group, target.i) + lane, margin_i,
                                            groups.planes(group, target.j) + lane, margin_j,
                                            groups.layout->words, groups.statistic->f.data());
            const Signed step = accumulate(at, t, target.observed, groups.statistic->shift,
                                           valid_lanes(lane, groups.shuffles_in(group)));
            if (target.z_factor == 0) continue;
            const auto z =
                hn::Mul(hn::Sub(hn::ConvertTo(reals, step), hn::Set(reals, target.z_centre)),
                        hn::Set(reals, target.z_factor));
            double* const of_lanes = max_z_by_lane + group * kLanes + lane;
            hn::Store(hn::Max(hn::Load(reals, of_lanes), z), reals, of_lanes);
        }
        at.store(sums, lane);
    }
}

/// The rows that hold one symbol of a sorted column: words of a plane, with masks for the ends.
struct RowRange {
    RowRange(Index first, Index count)
        : first_word(first / 64), words((first + count - 1) / 64 - first_word + 1), rows(count) {
        first_mask = ~std::uint64_t{0} << (first % 64);
        last_mask = ~std::uint64_t{0} >> (63 - (first + count - 1) % 64);
    }
    std::uint64_t mask(Index word) const {
        return (word == 0 ? first_mask : ~std::uint64_t{0}) &
               (word == words - 1 ? last_mask : ~std::uint64_t{0});
    }
    Index first_word, words, rows;
    std::uint64_t first_mask, last_mask;
};

/// The ranges of symbols that can have a cell above 1; F of the others is 0.
std::vector<RowRange> row_ranges(std::span<const Index> margin) {
    std::vector<RowRange> ranges;
    Index first = 0;
    for (const Index count : margin) {
        if (count > 1) ranges.emplace_back(first, count);
        first += count;
    }
    return ranges;
}

/// Counts each plane's rows within a range into `within`, [plane][lane].
HWY_INLINE void count_within(const PlaneGroups& groups, Index group, const RowRange& range,
                             std::uint64_t* HWY_RESTRICT within) {
    const Words d;
    const Index words = groups.layout->words;
    const std::uint64_t* plane =
        groups.bits + (group * groups.layout->planes * words + range.first_word) * kLanes;
    for (Index p = 0; p < groups.layout->planes; ++p, plane += words * kLanes) {
        for (Index lane = 0; lane < kLanes; lane += static_cast<Index>(hn::Lanes(d))) {
            Vector n = hn::Zero(d);
            for (Index w = 0; w < range.words; ++w) {
                const Vector rows = hn::Load(d, plane + w * kLanes + lane);
                n = hn::Add(n, count_bits(hn::And(rows, hn::Set(d, range.mask(w)))));
            }
            hn::Store(n, d, within + p * kLanes + lane);
        }
    }
}

/// The planes of a column within a range, [symbol - 1][word][lane].
HWY_INLINE void mask_planes(const std::uint64_t* HWY_RESTRICT planes, Index count, Index words,
                            const RowRange& range, std::uint64_t* HWY_RESTRICT masked) {
    const Words d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    for (Index b = 0; b < count; ++b) {
        for (Index w = 0; w < range.words; ++w) {
            const std::uint64_t* const from = planes + (b * words + range.first_word + w) * kLanes;
            std::uint64_t* const to = masked + (b * range.words + w) * kLanes;
            for (Index lane = 0; lane < kLanes; lane += lanes)
                hn::Store(hn::And(hn::Load(d, from + lane), hn::Set(d, range.mask(w))), d,
                          to + lane);
        }
    }
}

/// T of the cells of one symbol of i (the rows of `range`) with columns j and k, for the lanes of
/// one vector. `j`: its planes within the range; `of_j`, `of_k`: number of rows of each plane in
/// it.
HWY_INLINE Signed triple_cells(const RowRange& range, const std::uint64_t* HWY_RESTRICT j,
                               const std::uint64_t* HWY_RESTRICT of_j, int count_j,
                               const std::uint64_t* HWY_RESTRICT k,
                               const std::uint64_t* HWY_RESTRICT of_k, int count_k, Index stride,
                               const std::int64_t* HWY_RESTRICT f) {
    const Words d;
    Vector left[kMaxSymbols];
    for (int c = 0; c < count_k; ++c) left[c] = hn::Load(d, of_k + c * kLanes);
    Vector left_of_0 = hn::Set(d, range.rows);
    Signed t = hn::Zero(Numbers());
    for (int b = 0; b < count_j; ++b) {
        const Vector rows = hn::Load(d, of_j + b * kLanes);
        left_of_0 = hn::Sub(left_of_0, rows);
        // Rare symbols need neither subtraction nor lookup.
        if (hn::AllTrue(d, hn::Eq(rows, hn::Zero(d)))) continue;
        const bool above_1 = !hn::AllTrue(d, hn::Lt(rows, hn::Set(d, 2)));
        Vector left_of_b = rows;
        t = hn::Add(t, count_row(j + b * range.words * kLanes, k, count_k, stride, range.words, f,
                                 above_1, left, left_of_b));
        if (above_1) t = hn::Add(t, look_up(f, left_of_b));
    }
    return hn::Add(t, count_left(left, count_k, left_of_0, f));
}

/// T of the triples in one row of a tile (one i and j), for one group of shuffles, into `t`,
/// [k][lane].
void triple_row(const PlaneGroups& groups, Index group, const TripleTile::Row& row,
                const std::vector<RowRange>& ranges, const std::uint64_t* HWY_RESTRICT within,
                std::uint64_t* HWY_RESTRICT masked, std::int64_t* HWY_RESTRICT t) {
    const Numbers d;
    const PlaneLayout& layout = *groups.layout;
    const Index stride = layout.words * kLanes;
    const int count_j = groups.columns->symbol_count(row.j) - 1;
    std::fill_n(t, row.count * kLanes, 0);
    for (std::size_t a = 0; a < ranges.size(); ++a) {
        const std::uint64_t* const of = within + static_cast<Index>(a) * layout.planes * kLanes;
        mask_planes(groups.planes(group, row.j), count_j, layout.words, ranges[a], masked);
        for (Index n = 0; n < row.count; ++n) {
            const Index k = row.first_k + n;
            const int count_k = groups.columns->symbol_count(k) - 1;
            for (Index lane = 0; lane < kLanes; lane += static_cast<Index>(hn::Lanes(d))) {
                const Signed cells = triple_cells(
                    ranges[a], masked + lane, of + layout.first_bit_plane[row.j] * kLanes + lane,
                    count_j, groups.planes(group, k) + ranges[a].first_word * kLanes + lane,
                    of + layout.first_bit_plane[k] * kLanes + lane, count_k, stride,
                    groups.statistic->f.data());
                std::int64_t* const at = t + n * kLanes + lane;
                hn::Store(hn::Add(hn::Load(d, at), cells), d, at);
            }
        }
    }
}

void count_triples(const PlaneGroups& groups, const TripleTile& tile, Index first_row,
                   Index last_row, View<const std::int64_t, 1> observed, TripleScratch& scratch,
                   SumsByLane* sums) {
    const Numbers d;
    const PlaneLayout& layout = *groups.layout;
    const std::vector<RowRange> ranges = row_ranges(groups.columns->margin(tile.rows[first_row].i));
    const Index first_item = tile.rows[first_row].offset;
    scratch.fit(static_cast<Index>(ranges.size()) * layout.planes * kLanes,
                kMaxSymbols * layout.words * kLanes, tile.side[2].count * kLanes);
    const auto by_rows = [&](Index r) {
        return groups.codes != nullptr && counts_by_rows(*groups.columns, tile.rows[r]);
    };
    bool any_by_planes = false;
    for (Index r = first_row; r < last_row; ++r) any_by_planes = any_by_planes || !by_rows(r);
    for (Index group = groups.first; group < groups.last; ++group) {
        for (std::size_t a = 0; any_by_planes && a < ranges.size(); ++a)
            count_within(groups, group, ranges[a],
                         scratch.planes_within_symbol.data() +
                             static_cast<Index>(a) * layout.planes * kLanes);
        for (Index r = first_row; r < last_row; ++r) {
            const TripleTile::Row& row = tile.rows[r];
            if (by_rows(r))
                scratch.tables.count({groups.columns, &layout, groups.statistic,
                                      groups.codes + group * layout.group_code_bytes()},
                                     row, scratch.t.data());
            else
                triple_row(groups, group, row, ranges, scratch.planes_within_symbol.data(),
                           scratch.masked_planes.data(), scratch.t.data());
            for (Index n = 0; n < row.count; ++n) {
                SumsByLane& item = sums[row.offset - first_item + n];
                for (Index lane = 0; lane < kLanes; lane += static_cast<Index>(hn::Lanes(d))) {
                    Accumulator at;
                    at.load(item, lane);
                    accumulate(at, hn::Load(d, scratch.t.data() + n * kLanes + lane),
                               observed[row.offset + n], groups.statistic->shift,
                               valid_lanes(lane, groups.shuffles_in(group)));
                    at.store(item, lane);
                }
            }
        }
    }
}

}  // namespace pleat::mutual_information::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::mutual_information {
namespace {

HWY_EXPORT(count_pair);
HWY_EXPORT(count_triples);

}  // namespace

void SumsByLane::add_to(NullSums& sums, Index item) const {
    const auto total = [&](int row) {
        return std::accumulate(rows[row], rows[row] + kLanes, std::int64_t{0});
    };
    sums.less_count[item] += static_cast<std::uint32_t>(total(0));
    sums.equal_count[item] += static_cast<std::uint32_t>(total(1));
    sums.first[item] += total(2);
    sums.second[item] += total(3);
    sums.third_low[item] += total(4);
    sums.third_high[item] += total(5);
}

void count_pair(const PlaneGroups& groups, const PairTarget& target, double* max_z_by_lane,
                SumsByLane& sums) {
    HWY_DYNAMIC_DISPATCH(count_pair)(groups, target, max_z_by_lane, sums);
}

void count_triples(const PlaneGroups& groups, const TripleTile& tile, Index first_row,
                   Index last_row, View<const std::int64_t, 1> observed, TripleScratch& scratch,
                   SumsByLane* sums) {
    HWY_DYNAMIC_DISPATCH(count_triples)
    (groups, tile, first_row, last_row, observed, scratch, sums);
}

void TripleScratch::fit(Index within_size, Index masked_size, Index t_size) {
    if (planes_within_symbol.size() < within_size)
        planes_within_symbol = Array<std::uint64_t, 1>(within_size);
    if (masked_planes.size() < masked_size) masked_planes = Array<std::uint64_t, 1>(masked_size);
    if (t.size() < t_size) t = Array<std::int64_t, 1>(t_size);
}

}  // namespace pleat::mutual_information
#endif
