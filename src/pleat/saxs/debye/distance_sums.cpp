// Distance sums: products of a centre's and a step's sines, and their slopes, for every instruction
// set.
#include "pleat/saxs/debye/distance_sums.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/saxs/debye/distance_sums.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

#include "pleat/saxs/debye/sines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pleat::saxs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Lanes = hn::CappedTag<T, kSlack>;

/// Number of centres processed at a time, and of offsets: their sums fill the registers.
constexpr int kGroup = 3;
constexpr int kBlock = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
static_assert(kMaxOffset % kBlock == 0);

/// Rows of the scratch memory.
enum Row : Index {
    kDistance,
    kInverse,  ///< 1 / r, 0 past the last distance
    kSine,     ///< of the centre's phase
    kCosine,
    kTurnSine,  ///< of the phase from a centre to the next
    kTurnCosine,
    kOffsetCosine,  ///< kReach rows
    kOffsetSine = kOffsetCosine + kMaxOffset,
    kCentreSine = kOffsetSine + kMaxOffset,  ///< kGroup rows: divided by r
    kCentreCosine = kCentreSine + kGroup,
    kWeightedSine = kCentreCosine + kGroup,
    kWeightedCosine = kWeightedSine + kGroup,
    kRows = kWeightedCosine + kGroup
};
static_assert(kRows <= 64);

constexpr Index kRowStride = kChunk + kSlack;
template <class T>
HWY_INLINE T* row(DistanceSums<T>& s, Index n) {
    return s.scratch.data() + n * kRowStride;
}

/// Writes sines and cosines of 2, ..., kReach steps to `to`, which contains those of the first step
/// (cosines before all sines), and those of the last step to s8 and c8; by doubling, and sums of
/// neighbours in between.
template <class D, class V, class T = hn::TFromD<D>>
HWY_INLINE void store_offsets(D d, V s1, V c1, T* HWY_RESTRICT to, V& s8, V& c8) {
    const auto store = [&](int t, V s, V c) HWY_ATTR {
        hn::Store(c, d, to + (t - 1) * kRowStride);
        hn::Store(s, d, to + (kMaxOffset + t - 1) * kRowStride);
    };
    const V one = hn::Set(d, T{1}), twice = hn::Add(c1, c1);
    const auto doubled = [&](V s, V c, V& s2, V& c2) HWY_ATTR {
        const V more = hn::Add(s, s);
        s2 = hn::Mul(more, c);
        c2 = hn::NegMulAdd(more, s, one);
    };
    V s2, c2, s4, c4, s6, c6;
    doubled(s1, c1, s2, c2);
    const V s3 = hn::MulSub(twice, s2, s1), c3 = hn::MulSub(twice, c2, c1);
    doubled(s2, c2, s4, c4);
    const V s5 = hn::MulSub(twice, s4, s3), c5 = hn::MulSub(twice, c4, c3);
    doubled(s3, c3, s6, c6);
    const V s7 = hn::MulSub(twice, s6, s5), c7 = hn::MulSub(twice, c6, c5);
    doubled(s4, c4, s8, c8);
    static_assert(kMaxOffset == 8);
    store(2, s2, c2);
    store(3, s3, c3);
    store(4, s4, c4);
    store(5, s5, c5);
    store(6, s6, c6);
    store(7, s7, c7);
    store(8, s8, c8);
}

/// Sines and cosines of a chunk's phases, to rows of the scratch memory.
template <class T>
HWY_INLINE void store_waves(DistanceSums<T>& sums, SplitNumber<T> turn, Index sine_row,
                            Index cosine_row) {
    const Lanes<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d)), count = sums.chunk.count;
    T* HWY_RESTRICT const to = sums.scratch.data();
    for (Index p = 0; p < count; p += lanes) {
        hn::Vec<decltype(d)> sine, cosine;
        sine_cosine(d, hn::Load(d, to + kDistance * kRowStride + p), turn, sine, cosine);
        hn::Store(sine, d, to + sine_row * kRowStride + p);
        hn::Store(cosine, d, to + cosine_row * kRowStride + p);
    }
}

/// Computes inverse distances and all phases of a chunk in short consecutive loops: each step
/// depends on the previous one, so many vectors must be in progress at a time.
template <class T>
HWY_INLINE void prepare(DistanceSums<T>& sums) {
    const Lanes<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d)), count = sums.chunk.count;
    const auto largest = hn::Set(d, sums.max_distance);
    const T* HWY_RESTRICT const squared = sums.chunk.squared.data();
    T* HWY_RESTRICT const to = sums.scratch.data();
    for (Index p = 0; p < count; p += lanes) {
        hn::Vec<decltype(d)> r, inverse;
        distance(d, hn::Load(d, squared + p), r, inverse);
        hn::Store(hn::Min(r, largest), d, to + kDistance * kRowStride + p);
        hn::Store(inverse, d, to + kInverse * kRowStride + p);
    }
    std::fill(to + kInverse * kRowStride + count, to + (kInverse + 1) * kRowStride, T{0});
    store_waves(sums, sums.step, kOffsetSine, kOffsetCosine);
    if (sums.grid->centres > 1) store_waves(sums, sums.turn, kTurnSine, kTurnCosine);
    for (Index p = 0; p < count; p += lanes) {
        T* HWY_RESTRICT const offsets = to + kOffsetCosine * kRowStride + p;
        hn::Vec<decltype(d)> s8, c8;
        store_offsets(d, hn::Load(d, offsets + kMaxOffset * kRowStride), hn::Load(d, offsets),
                      offsets, s8, c8);
        hn::Store(s8, d, to + kSine * kRowStride + p);
        hn::Store(c8, d, to + kCosine * kRowStride + p);
    }
    if (!sums.grid->starts_at_zero) store_waves(sums, sums.start, kSine, kCosine);
}

/// Sets the weights that vectors read after the last one; they must be finite.
template <class T>
HWY_INLINE void pad(DistanceSums<T>& sums) {
    DistanceChunk<T>& chunk = sums.chunk;
    std::fill_n(chunk.squared.data() + chunk.count, kSlack, T{1});
    for (Index n = 0; n < sums.weightings.count; ++n)
        std::fill_n(chunk.weight(n) + chunk.count, kSlack, T{0});
}

/// Waves of `count` centres, each from the previous one by the turn; and of the next centre if
/// `goes_on`.
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
        const SplitNumber<T> turn = sums.turns_of_q[k];
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
void add(DistanceSums<T>& sums) {
    pad(sums);
    if (sums.grid->even)
        add_even(sums);
    else
        add_uneven(sums);
}

/// Adds all lanes of the sums in float64.
template <class T>
void widen(DistanceSums<T>& sums) {
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

template <class T>
void squared_of(const T* xyz, Index stride, const RowPairs* row_pairs, Index segment_count, T* to) {
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
void products_of(const T* of_row, const T* of_column, const RowPairs* row_pairs,
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

/// Sums of cosines weighted by `w`, [kSpan], around one centre, from products for t and -t.
template <class D, class V, class T>
HWY_INLINE V about_centre(D d, V s, V c, const T* HWY_RESTRICT w, DistanceSums<T>& sums, Index p,
                          bool of_sines) {
    V even = hn::Set(d, w[0]), odd = hn::Zero(d);
    for (int t = 1; t <= kMaxOffset; ++t) {
        even =
            hn::MulAdd(hn::Set(d, w[t]), hn::Load(d, row(sums, kOffsetCosine + t - 1) + p), even);
        odd = hn::MulAdd(hn::Set(d, w[kMaxOffset + t]),
                         hn::Load(d, row(sums, kOffsetSine + t - 1) + p), odd);
    }
    return of_sines ? hn::MulAdd(s, even, hn::Mul(c, odd))
                    : hn::NegMulAdd(s, odd, hn::Mul(c, even));
}

template <class T>
HWY_INLINE void slopes_even(DistanceSums<T>& sums, const T* weights, T* slopes) {
    prepare(sums);
    const Lanes<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    for (Index p = 0; p < sums.chunk.count; p += lanes) {
        const auto ts = hn::Load(d, row(sums, kTurnSine) + p);
        const auto tc = hn::Load(d, row(sums, kTurnCosine) + p);
        auto s = hn::Load(d, row(sums, kSine) + p), c = hn::Load(d, row(sums, kCosine) + p);
        auto cosines = hn::Zero(d), sines = cosines;
        for (Index m = 0; m < sums.grid->centres; ++m) {
            const T* const w = weights + m * 2 * kOffsetCount;
            cosines = hn::Add(cosines, about_centre(d, s, c, w, sums, p, false));
            sines = hn::Add(sines, about_centre(d, s, c, w + kOffsetCount, sums, p, true));
            const auto next = hn::MulAdd(s, tc, hn::Mul(c, ts));
            c = hn::MulSub(c, tc, hn::Mul(s, ts));
            s = next;
        }
        const auto inverse = hn::Load(d, row(sums, kInverse) + p);
        const auto slope =
            hn::Mul(hn::NegMulAdd(inverse, sines, cosines), hn::Mul(inverse, inverse));
        hn::Store(slope, d, slopes + p);
    }
}

template <class T>
HWY_INLINE void slopes_uneven(DistanceSums<T>& sums, const T* weights, T* slopes) {
    const Lanes<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    for (Index p = 0; p < sums.chunk.count; p += lanes) {
        hn::Vec<decltype(d)> r, inverse, sine, cosine;
        distance(d, hn::Load(d, sums.chunk.squared.data() + p), r, inverse);
        r = hn::Min(r, hn::Set(d, sums.max_distance));
        auto cosines = hn::Zero(d), sines = cosines;
        for (Index k = 0; k < sums.grid->count; ++k) {
            sine_cosine(d, r, sums.turns_of_q[k], sine, cosine);
            cosines = hn::MulAdd(hn::Set(d, weights[2 * k]), cosine, cosines);
            sines = hn::MulAdd(hn::Set(d, weights[2 * k + 1]), sine, sines);
        }
        hn::Store(hn::Mul(hn::NegMulAdd(inverse, sines, cosines), hn::Mul(inverse, inverse)), d,
                  slopes + p);
    }
}

template <class T>
void slopes_of(DistanceSums<T>& sums, const T* weights, T* slopes) {
    pad(sums);
    if (sums.grid->even)
        slopes_even(sums, weights, slopes);
    else
        slopes_uneven(sums, weights, slopes);
    constexpr T kNear = T(1e-10);  // squared
    for (Index p = 0; p < sums.chunk.count; ++p)
        if (sums.chunk.squared[p] < kNear) slopes[p] = 0;
}

template <class T>
DistanceFunctions<T> functions_of() {
    return {&add<T>, &widen<T>, &squared_of<T>, &products_of<T>, &slopes_of<T>};
}
DistanceFunctions<float> float_functions() { return functions_of<float>(); }
DistanceFunctions<double> double_functions() { return functions_of<double>(); }

}  // namespace pleat::saxs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::saxs {

namespace {

/// Tolerance as a fraction of the last q: rounding a distance to float32 changes q r as much.
constexpr double kEvenness = 1e-7;
/// With fewer values of q, computing each sine separately is faster.
constexpr Index kFewest = 4;

}  // namespace

SineGrid::SineGrid(std::span<const double> values)
    : count(std::ssize(values)), q(values.begin(), values.end()) {
    if (count < kFewest) return;
    first = q.front();
    step = (q.back() - q.front()) / static_cast<double>(count - 1);
    for (Index k = 0; k < count; ++k)
        if (std::fabs(q[k] - (first + static_cast<double>(k) * step)) > kEvenness * q.back())
            return;
    even = true;
    starts_at_zero = first == 0.0;
    centres = (count + kOffsetCount - 1) / kOffsetCount;
}

HWY_EXPORT(float_functions);
HWY_EXPORT(double_functions);

namespace {

/// Maximum number of turns for which phases are meaningful in this type.
template <class T>
constexpr double kMaxTurns = std::is_same_v<T, float> ? 1 << 20 : 1e14;

/// Distances after which float32 sums of lanes are added to float64 sums.
constexpr Index kMaxAdded = 1 << 14;

/// Those of the best instruction set.
template <class T>
DistanceFunctions<T> functions() {
    if constexpr (std::is_same_v<T, float>)
        return HWY_DYNAMIC_DISPATCH(float_functions)();
    else
        return HWY_DYNAMIC_DISPATCH(double_functions)();
}

template <class T>
void take_up(DistanceSums<T>& sums) {
    functions<T>().widen(sums);
    sums.sums.fill(0);
    sums.pending_count = 0;
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

template <class T>
void add_chunk(DistanceSums<T>& sums) {
    if (sums.chunk.count > 0) functions<T>().add(sums);
    sums.pending_count += sums.chunk.count;
    sums.chunk.count = 0;
    if (sums.pending_count >= kMaxAdded) take_up(sums);
}
template void add_chunk<float>(DistanceSums<float>&);
template void add_chunk<double>(DistanceSums<double>&);

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
            to[k] = grid.q[k] > 0.0 ? to[k] / grid.q[k] : total[n];
    }
    sums.float64_sums.fill(0.0);
}
template void take_sums<float>(DistanceSums<float>&, const double*, View<double, 2>);
template void take_sums<double>(DistanceSums<double>&, const double*, View<double, 2>);

template <class T>
void squared_distances(const T* xyz, Index stride, std::span<const RowPairs> row_pairs, T* to) {
    functions<T>().squared(xyz, stride, row_pairs.data(), std::ssize(row_pairs), to);
}
template void squared_distances<float>(const float*, Index, std::span<const RowPairs>, float*);
template void squared_distances<double>(const double*, Index, std::span<const RowPairs>, double*);

template <class T>
void scale_products(const T* of_row, const T* of_column, std::span<const RowPairs> row_pairs,
                    T* to) {
    functions<T>().products(of_row, of_column, row_pairs.data(), std::ssize(row_pairs), to);
}
template void scale_products<float>(const float*, const float*, std::span<const RowPairs>, float*);
template void scale_products<double>(const double*, const double*, std::span<const RowPairs>,
                                     double*);

template <class T>
SlopeWeights<T> slope_weights(const SineGrid& grid, const double* weight) {
    const auto of_cosine = [&](Index k) { return k < grid.count ? weight[k] : 0.0; };
    const auto of_sine = [&](Index k) {
        const double q = k < grid.count ? grid.q[k] : 0.0;
        return q > 0.0 ? weight[k] / q : 0.0;
    };
    SlopeWeights<T> result;
    if (!grid.even) {
        result.values = Array<T, 2>(grid.count, Index{2});
        for (Index k = 0; k < grid.count; ++k) {
            const double q = grid.q[k];
            result.values(k, 0) = static_cast<T>(q > 0.0 ? of_cosine(k) : 0.0);
            result.values(k, 1) = static_cast<T>(of_sine(k));
        }
        return result;
    }
    result.values = Array<T, 2>(grid.centres, Index{2} * kOffsetCount);
    const auto arrange = [&](Index m, Index from, const auto& value) {
        const Index centre = m * kOffsetCount + kMaxOffset;
        result.values(m, from) = static_cast<T>(value(centre));
        for (Index t = 1; t <= kMaxOffset; ++t) {
            result.values(m, from + t) = static_cast<T>(value(centre + t) + value(centre - t));
            result.values(m, from + kMaxOffset + t) =
                static_cast<T>(value(centre + t) - value(centre - t));
        }
    };
    const auto at_zero = [&](Index k) {
        return k == 0 && grid.starts_at_zero ? 0.0 : of_cosine(k);
    };
    for (Index m = 0; m < grid.centres; ++m) {
        arrange(m, 0, at_zero);
        arrange(m, kOffsetCount, of_sine);
    }
    return result;
}
template SlopeWeights<float> slope_weights<float>(const SineGrid&, const double*);
template SlopeWeights<double> slope_weights<double>(const SineGrid&, const double*);

template <class T>
void pair_slopes(DistanceSums<T>& sums, const SlopeWeights<T>& weights, T* slopes) {
    functions<T>().slopes(sums, weights.values.data(), slopes);
}
template void pair_slopes<float>(DistanceSums<float>&, const SlopeWeights<float>&, float*);
template void pair_slopes<double>(DistanceSums<double>&, const SlopeWeights<double>&, double*);

}  // namespace pleat::saxs
#endif
