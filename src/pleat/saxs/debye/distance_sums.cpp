// Distance sums: products of a centre's and a step's sines, compiled for every instruction set.
#include "pleat/saxs/debye/distance_sums.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/saxs/debye/distance_sums.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

#include "pleat/saxs/debye/phases-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pleat::saxs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Waves of `count` centres, which follow one another by the turn; the next one's where `goes_on`.
template <class T>
HWY_INLINE void next_centres(DistanceSums<T>& sums, int count, bool goes_on) {
    const Lanes<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d)), distances = sums.chunk.count;
    T* HWY_RESTRICT const at = sums.scratch.data();
    for (Index p = 0; p < distances; p += lanes) {
        const auto ts = hn::Load(d, at + kTurnSine * kRowStride + p);
        const auto tc = hn::Load(d, at + kTurnCosine * kRowStride + p);
        auto s = hn::Load(d, at + kSine * kRowStride + p);
        auto c = hn::Load(d, at + kCosine * kRowStride + p);
        for (int g = 0; g < count; ++g) {
            hn::Store(s, d, at + (kCentreSine + g) * kRowStride + p);
            hn::Store(c, d, at + (kCentreCosine + g) * kRowStride + p);
            if (g + 1 == count && !goes_on) break;
            const auto next = hn::MulAdd(s, tc, hn::Mul(c, ts));
            c = hn::MulSub(c, tc, hn::Mul(s, ts));
            s = next;
        }
        if (!goes_on) continue;
        hn::Store(s, d, at + kSine * kRowStride + p);
        hn::Store(c, d, at + kCosine * kRowStride + p);
    }
}

/// Replaces each phase by its sine or cosine divided by r.
template <class T>
HWY_INLINE void divide_by_distance(DistanceSums<T>& sums) {
    const Lanes<T> d;
    T* HWY_RESTRICT const at = sums.scratch.data();
    for (Index p = 0; p < sums.chunk.count; p += static_cast<Index>(hn::Lanes(d))) {
        const auto inverse = hn::Load(d, at + kInverse * kRowStride + p);
        for (const Index wave : {kSine, kCosine}) {
            T* const out = at + wave * kRowStride + p;
            hn::Store(hn::Mul(hn::Load(d, out), inverse), d, out);
        }
    }
}

template <class T>
HWY_INLINE void weight_centres(DistanceSums<T>& sums, const T* weight, int count) {
    const Lanes<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    for (Index p = 0; p < sums.chunk.count; p += lanes) {
        const auto w = hn::Load(d, weight + p);
        for (int g = 0; g < 2 * kGroup; ++g) {
            if (g % kGroup >= count) continue;
            hn::Store(hn::Mul(w, hn::Load(d, row(sums, kCentreSine + g) + p)), d,
                      row(sums, kWeightedSine + g) + p);
        }
    }
}

/// Sums over the chunk of kCount centres' sines, and of their products with kBlock offsets'.
template <int kCount, class T>
HWY_INLINE void add_products(DistanceSums<T>& sums, Index from, int offset, T* HWY_RESTRICT to) {
    const Lanes<T> d;
    using V = hn::Vec<decltype(d)>;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    const Index stride = kRowStride, count = sums.chunk.count;
    const T* HWY_RESTRICT const sine = row(sums, from);
    const T* HWY_RESTRICT const cosine = row(sums, from + kGroup);
    const T* HWY_RESTRICT const offset_cosine = row(sums, kOffsetCosine + offset);
    const T* HWY_RESTRICT const offset_sine = row(sums, kOffsetSine + offset);
    V plus[kCount][kBlock], minus[kCount][kBlock];
    HWY_UNROLL(8)
    for (int g = 0; g < kCount; ++g)
        HWY_UNROLL(8) for (int t = 0; t < kBlock; ++t) plus[g][t] = minus[g][t] = hn::Zero(d);
    for (Index p = 0; p < count; p += lanes) {
        V s[kCount], c[kCount];
        HWY_UNROLL(8) for (int g = 0; g < kCount; ++g) {
            s[g] = hn::Load(d, sine + g * stride + p);
            c[g] = hn::Load(d, cosine + g * stride + p);
        }
        HWY_UNROLL(8) for (int t = 0; t < kBlock; ++t) {
            const V oc = hn::Load(d, offset_cosine + t * stride + p);
            HWY_UNROLL(8)
            for (int g = 0; g < kCount; ++g) plus[g][t] = hn::MulAdd(s[g], oc, plus[g][t]);
            const V os = hn::Load(d, offset_sine + t * stride + p);
            HWY_UNROLL(8)
            for (int g = 0; g < kCount; ++g) minus[g][t] = hn::MulAdd(c[g], os, minus[g][t]);
        }
    }
    HWY_UNROLL(8) for (int g = 0; g < kCount; ++g) HWY_UNROLL(8) for (int t = 0; t < kBlock; ++t) {
        T* const out = to + (g * kOffsetCount + 1 + offset + t) * kSlack;
        hn::Store(hn::Add(plus[g][t], hn::Load(d, out)), d, out);
        T* const other = out + kMaxOffset * kSlack;
        hn::Store(hn::Add(minus[g][t], hn::Load(d, other)), d, other);
    }
}

template <int kCount, class T>
HWY_INLINE void add_centres(DistanceSums<T>& sums, Index from, T* HWY_RESTRICT to) {
    const Lanes<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    for (int g = 0; g < kCount; ++g) {
        auto sum = hn::Load(d, to + g * kOffsetCount * kSlack);
        for (Index p = 0; p < sums.chunk.count; p += lanes)
            sum = hn::Add(sum, hn::Load(d, row(sums, from + g) + p));
        hn::Store(sum, d, to + g * kOffsetCount * kSlack);
    }
    for (int offset = 0; offset < kMaxOffset; offset += kBlock)
        add_products<kCount>(sums, from, offset, to);
}

template <class T>
HWY_INLINE void add_even(DistanceSums<T>& sums) {
    prepare(sums);
    divide_by_distance(sums);
    const Index centres = sums.grid->centres;
    for (Index first = 0; first < centres; first += kGroup) {
        const int count = static_cast<int>(std::min<Index>(kGroup, centres - first));
        next_centres(sums, count, first + count < centres);
        for (Index n = 0; n < sums.weightings.count; ++n) {
            if (!sums.chunk.is_used(n)) continue;
            const bool plain = n == 0 && sums.weightings.first_is_one;
            if (!plain) weight_centres(sums, sums.chunk.weight(n), count);
            T* const to = sums.sums.data() + (n * centres + first) * kOffsetCount * kSlack;
            const Index from = plain ? kCentreSine : kWeightedSine;
            if (count == 3) add_centres<3>(sums, from, to);
            if (count == 2) add_centres<2>(sums, from, to);
            if (count == 1) add_centres<1>(sums, from, to);
        }
    }
}

/// A sine for each distance and q.
template <class T>
HWY_INLINE void add_uneven(DistanceSums<T>& sums) {
    const Lanes<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    const Index count = sums.chunk.count, q_count = sums.grid->count;
    T* const distances = row(sums, kSine);
    for (Index p = 0; p < count; p += lanes) {
        hn::Vec<decltype(d)> r, inverse;
        distance(d, hn::Load(d, sums.chunk.squared.data() + p), r, inverse);
        hn::Store(hn::Min(r, hn::Set(d, sums.max_distance)), d, distances + p);
        hn::Store(inverse, d, row(sums, kInverse) + p);
    }
    std::fill(row(sums, kInverse) + count, row(sums, kInverse) + kChunk + kSlack, T{0});
    for (Index k = 0; k < q_count; ++k) {
        const SplitNumber<T> turn = sums.turns_of_q[static_cast<std::size_t>(k)];
        for (Index p = 0; p < count; p += lanes) {
            const auto sine = hn::Mul(sine_of(d, hn::Load(d, distances + p), turn),
                                      hn::Load(d, row(sums, kInverse) + p));
            hn::Store(sine, d, row(sums, kCentreSine) + p);
        }
        for (Index n = 0; n < sums.weightings.count; ++n) {
            if (!sums.chunk.is_used(n)) continue;
            T* const to = sums.sums.data() + (n * q_count + k) * kSlack;
            auto sum = hn::Load(d, to);
            const bool plain = n == 0 && sums.weightings.first_is_one;
            for (Index p = 0; p < count; p += lanes) {
                const auto sine = hn::Load(d, row(sums, kCentreSine) + p);
                sum = plain ? hn::Add(sum, sine)
                            : hn::MulAdd(sine, hn::Load(d, sums.chunk.weight(n) + p), sum);
            }
            hn::Store(sum, d, to);
        }
    }
}

template <class T>
HWY_INLINE void add(DistanceSums<T>& sums) {
    pad(sums);
    if (sums.grid->even)
        add_even(sums);
    else
        add_uneven(sums);
}

/// Adds all lanes of the sums in float64.
template <class T>
HWY_INLINE void widen(DistanceSums<T>& sums) {
    const hn::CappedTag<double, kSlack / 2> float64_sums;
    const hn::Rebind<T, decltype(float64_sums)> narrow;
    const Index count = sums.float64_sums.extent(1);
    for (Index n = 0; n < sums.weightings.count; ++n) {
        if (!sums.chunk.is_used(n)) continue;
        const T* from = sums.sums.data() + n * count * kSlack;
        double* const to = &sums.float64_sums(n, 0);
        for (Index k = 0; k < count; ++k, from += kSlack) {
            auto sum = hn::Zero(float64_sums);
            for (Index lane = 0; lane < kSlack;
                 lane += static_cast<Index>(hn::Lanes(float64_sums))) {
                if constexpr (std::is_same_v<T, double>)
                    sum = hn::Add(sum, hn::Load(float64_sums, from + lane));
                else
                    sum = hn::Add(sum, hn::PromoteTo(float64_sums, hn::Load(narrow, from + lane)));
            }
            to[k] += hn::GetLane(hn::SumOfLanes(float64_sums, sum));
        }
    }
}

void widen_float(DistanceSums<float>& sums) { widen(sums); }
void widen_double(DistanceSums<double>& sums) { widen(sums); }
void add_float(DistanceSums<float>& sums) { add(sums); }
void add_double(DistanceSums<double>& sums) { add(sums); }

template <class T>
HWY_INLINE void squared_of(const T* xyz, Index stride, const RowPairs* row_pairs,
                           Index segment_count, T* to) {
    const Lanes<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    for (const RowPairs* s = row_pairs; s != row_pairs + segment_count; to += s->count, ++s) {
        const auto x = hn::Set(d, xyz[s->row]), y = hn::Set(d, xyz[stride + s->row]);
        const auto z = hn::Set(d, xyz[2 * stride + s->row]);
        const T* HWY_RESTRICT const from = xyz + s->column;
        for (Index j = 0; j < s->count; j += lanes) {
            const auto dx = hn::Sub(hn::LoadU(d, from + j), x);
            const auto dy = hn::Sub(hn::LoadU(d, from + stride + j), y);
            const auto dz = hn::Sub(hn::LoadU(d, from + 2 * stride + j), z);
            hn::StoreU(hn::MulAdd(dx, dx, hn::MulAdd(dy, dy, hn::Mul(dz, dz))), d, to + j);
        }
    }
}

template <class T>
HWY_INLINE void products_of(const T* of_row, const T* of_column, const RowPairs* row_pairs,
                            Index segment_count, T* to) {
    const Lanes<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    for (const RowPairs* s = row_pairs; s != row_pairs + segment_count; to += s->count, ++s) {
        const auto scale = hn::Set(d, of_row == nullptr ? T{1} : of_row[s->row]);
        if (of_column == nullptr) {
            for (Index j = 0; j < s->count; j += lanes) hn::StoreU(scale, d, to + j);
            continue;
        }
        const T* HWY_RESTRICT const from = of_column + s->column;
        for (Index j = 0; j < s->count; j += lanes)
            hn::StoreU(hn::Mul(scale, hn::LoadU(d, from + j)), d, to + j);
    }
}

void products_float(const float* of_row, const float* of_column, const RowPairs* row_pairs,
                    Index count, float* to) {
    products_of(of_row, of_column, row_pairs, count, to);
}
void products_double(const double* of_row, const double* of_column, const RowPairs* row_pairs,
                     Index count, double* to) {
    products_of(of_row, of_column, row_pairs, count, to);
}
void squared_float(const float* xyz, Index stride, const RowPairs* row_pairs, Index count,
                   float* to) {
    squared_of(xyz, stride, row_pairs, count, to);
}
void squared_double(const double* xyz, Index stride, const RowPairs* row_pairs, Index count,
                    double* to) {
    squared_of(xyz, stride, row_pairs, count, to);
}

}  // namespace pleat::saxs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::saxs {

HWY_EXPORT(widen_float);
HWY_EXPORT(widen_double);
HWY_EXPORT(add_float);
HWY_EXPORT(add_double);
HWY_EXPORT(products_float);
HWY_EXPORT(products_double);
HWY_EXPORT(squared_float);
HWY_EXPORT(squared_double);

namespace {

/// Turns up to which phases have meaning: larger phases are noise in that type.
template <class T>
constexpr double kMaxTurns = std::is_same_v<T, float> ? 1 << 20 : 1e14;

/// Distances after which float32 sums of lanes are added to float64 sums.
constexpr Index kMaxAdded = 1 << 14;

void take_up(DistanceSums<float>& sums) {
    HWY_DYNAMIC_DISPATCH(widen_float)(sums);
    sums.sums.fill(0);
    sums.pending_count = 0;
}
void take_up(DistanceSums<double>& sums) {
    HWY_DYNAMIC_DISPATCH(widen_double)(sums);
    sums.sums.fill(0);
    sums.pending_count = 0;
}

template <class T>
void end_chunk(DistanceSums<T>& sums) {
    sums.pending_count += sums.chunk.count;
    sums.chunk.count = 0;
    if (sums.pending_count >= kMaxAdded) take_up(sums);
}

}  // namespace

template <class T>
DistanceSums<T>::DistanceSums(const SineGrid& from, Weightings given)
    : grid(&from),
      weightings(given),
      step(SineGrid::turns<T>(from.step)),
      start(SineGrid::turns<T>(from.first + kMaxOffset * from.step)),
      turn(SineGrid::turns<T>(kOffsetCount * from.step)),
      max_distance(static_cast<T>(kMaxTurns<T> * kTurn / std::max(from.largest(), 1e-9))),
      chunk(given.count),
      scratch(Index{64}, kChunk + kSlack),
      sums(given.count * from.sum_count() * kSlack),
      float64_sums(given.count, from.sum_count()) {
    if (!from.even)
        for (const double q : from.q) turns_of_q.push_back(SineGrid::turns<T>(q));
}
template struct DistanceSums<float>;
template struct DistanceSums<double>;

void add_chunk(DistanceSums<float>& sums) {
    if (sums.chunk.count > 0) HWY_DYNAMIC_DISPATCH(add_float)(sums);
    end_chunk(sums);
}
void add_chunk(DistanceSums<double>& sums) {
    if (sums.chunk.count > 0) HWY_DYNAMIC_DISPATCH(add_double)(sums);
    end_chunk(sums);
}

template <class T>
void take_sums(DistanceSums<T>& sums, const double* total, View<double, 2> result) {
    add_chunk(sums);
    take_up(sums);
    const SineGrid& grid = *sums.grid;
    for (Index n = 0; n < sums.weightings.count; ++n) {
        if (!sums.chunk.is_used(n)) continue;
        const double* centre = &sums.float64_sums(n, 0);
        double* const to = &result(n, 0);
        if (grid.even) {
            for (Index first = 0; first < grid.count; first += kOffsetCount) {
                const Index last = std::min<Index>(grid.count - first, kOffsetCount);
                for (Index k = 0; k < last; ++k) {
                    const Index t = k - kMaxOffset;
                    to[first + k] = t == 0  ? centre[0]
                                    : t > 0 ? centre[t] + centre[kMaxOffset + t]
                                            : centre[-t] - centre[kMaxOffset - t];
                }
                centre += kOffsetCount;
            }
        } else {
            std::copy_n(centre, grid.count, to);
        }
        for (Index k = 0; k < grid.count; ++k)
            to[k] = grid.q[static_cast<std::size_t>(k)] > 0.0
                        ? to[k] / grid.q[static_cast<std::size_t>(k)]
                        : total[n];
    }
    sums.float64_sums.fill(0.0);
}
template void take_sums<float>(DistanceSums<float>&, const double*, View<double, 2>);
template void take_sums<double>(DistanceSums<double>&, const double*, View<double, 2>);

void squared_distances(const float* xyz, Index stride, std::span<const RowPairs> row_pairs,
                       float* to) {
    HWY_DYNAMIC_DISPATCH(squared_float)
    (xyz, stride, row_pairs.data(), static_cast<Index>(row_pairs.size()), to);
}
void squared_distances(const double* xyz, Index stride, std::span<const RowPairs> row_pairs,
                       double* to) {
    HWY_DYNAMIC_DISPATCH(squared_double)
    (xyz, stride, row_pairs.data(), static_cast<Index>(row_pairs.size()), to);
}

void scale_products(const float* of_row, const float* of_column,
                    std::span<const RowPairs> row_pairs, float* to) {
    HWY_DYNAMIC_DISPATCH(products_float)
    (of_row, of_column, row_pairs.data(), static_cast<Index>(row_pairs.size()), to);
}
void scale_products(const double* of_row, const double* of_column,
                    std::span<const RowPairs> row_pairs, double* to) {
    HWY_DYNAMIC_DISPATCH(products_double)
    (of_row, of_column, row_pairs.data(), static_cast<Index>(row_pairs.size()), to);
}

}  // namespace pleat::saxs
#endif
