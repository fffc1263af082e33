// Distance slopes: derivatives of sums of sines by distance, compiled for every instruction set.
#include <algorithm>

#include "pleat/saxs/debye/distance_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/saxs/debye/distance_slopes.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

#include "pleat/saxs/debye/phases-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pleat::saxs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sums of cosines weighted by `w`, [kSpan], about one centre: that of t and -t are products too.
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
            sine_cosine(d, r, sums.turns_of_q[static_cast<std::size_t>(k)], sine, cosine);
            cosines = hn::MulAdd(hn::Set(d, weights[2 * k]), cosine, cosines);
            sines = hn::MulAdd(hn::Set(d, weights[2 * k + 1]), sine, sines);
        }
        hn::Store(hn::Mul(hn::NegMulAdd(inverse, sines, cosines), hn::Mul(inverse, inverse)), d,
                  slopes + p);
    }
}

template <class T>
HWY_INLINE void slopes_of(DistanceSums<T>& sums, const T* weights, T* slopes) {
    pad(sums);
    if (sums.grid->even)
        slopes_even(sums, weights, slopes);
    else
        slopes_uneven(sums, weights, slopes);
    constexpr T kNear = T(1e-10);  // squared
    for (Index p = 0; p < sums.chunk.count; ++p)
        if (sums.chunk.squared[p] < kNear) slopes[p] = 0;
}

void slopes_float(DistanceSums<float>& sums, const float* weights, float* slopes) {
    slopes_of(sums, weights, slopes);
}
void slopes_double(DistanceSums<double>& sums, const double* weights, double* slopes) {
    slopes_of(sums, weights, slopes);
}

}  // namespace pleat::saxs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::saxs {

HWY_EXPORT(slopes_float);
HWY_EXPORT(slopes_double);

template <class T>
SlopeWeights<T> slope_weights(const SineGrid& grid, const double* weight) {
    const auto of_cosine = [&](Index k) { return k < grid.count ? weight[k] : 0.0; };
    const auto of_sine = [&](Index k) {
        const double q = k < grid.count ? grid.q[static_cast<std::size_t>(k)] : 0.0;
        return q > 0.0 ? weight[k] / q : 0.0;
    };
    SlopeWeights<T> result;
    if (!grid.even) {
        result.values = Array<T, 2>(grid.count, Index{2});
        for (Index k = 0; k < grid.count; ++k) {
            const double q = grid.q[static_cast<std::size_t>(k)];
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

void pair_slopes(DistanceSums<float>& sums, const SlopeWeights<float>& weights, float* slopes) {
    HWY_DYNAMIC_DISPATCH(slopes_float)(sums, weights.values.data(), slopes);
}
void pair_slopes(DistanceSums<double>& sums, const SlopeWeights<double>& weights, double* slopes) {
    HWY_DYNAMIC_DISPATCH(slopes_double)(sums, weights.values.data(), slopes);
}

}  // namespace pleat::saxs
#endif
