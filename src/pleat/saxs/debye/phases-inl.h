// Phases of a chunk of distances, for sums and slopes. Included once per target.
// No include guard: foreach_target.h compiles it again for each.
#include <algorithm>

#include <hwy/highway.h>

#include "pleat/saxs/debye/distance_sums.h"
#include "pleat/saxs/debye/sines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pleat::saxs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Lanes = hn::CappedTag<T, kSlack>;

/// Centres worked on at a time, and offsets: their sums fill the registers.
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

/// Sines and cosines of 2, ..., kReach steps to `to`, where that of the first is (cosines before
/// all sines), and of the last to s8 and c8: doublings, and sums of neighbours between them.
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

/// Inverse distances and all phases of a chunk, in short loops one after another: each step waits
/// for the previous one, so many vectors must be in progress at a time.
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

/// Sets the weights that vectors read past the last one, which must be numbers.
template <class T>
HWY_INLINE void pad(DistanceSums<T>& sums) {
    DistanceChunk<T>& chunk = sums.chunk;
    std::fill_n(chunk.squared.data() + chunk.count, kSlack, T{1});
    for (Index n = 0; n < sums.weightings.count; ++n)
        std::fill_n(chunk.weight(n) + chunk.count, kSlack, T{0});
}

}  // namespace pleat::saxs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
