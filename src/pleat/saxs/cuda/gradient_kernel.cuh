// CUDA kernels of gradients of saxs: each lane sums the slopes of a scatterer's pairs, then of all chunks.
#pragma once

#include "pleat/saxs/cuda/pair_kernel.cuh"
#include "pleat/saxs/debye/pair_sums.h"

namespace pleat::saxs::cuda {

/// Terms of the series of a slope for small q r.
inline constexpr int kSlopeTerms = 6;

/// Positions of one frame, and what a gradient is taken of. Pointers are to device memory.
struct GradientWork {
    const float* xyz;     ///< [axis, sorted scatterer]
    const float* scales;  ///< [scale, sorted scatterer]
    Index scatterer_count;
    const TypeSegment* pieces;    ///< rows: of one type, at most kLanes
    const TypeSegment* segments;  ///< columns
    std::int32_t piece_count, segment_count;
    Index chunk;           ///< columns that a warp takes
    const double* weight;  ///< [channel pair, q]
    double largest_q;
    double* chunk_sums;  ///< [chunk, axis, sorted scatterer]
    double* gradient;    ///< [axis, sorted scatterer]
};

/// For the types of a row and a column and one pass: the sum over q of w(q) sin(q r) / (q r), with
/// d = w and f = w / q, has the slope (sum d cos(q r) - sum f sin(q r) / r) / r.
template <class Real>
struct alignas(16) SlopeFactors {
    // Sums and differences of the values at equal offsets from a centre, if q are evenly spaced.
    Real d_sum[kCentres][kMaxOffset], d_difference[kCentres][kMaxOffset];
    Real f_sum[kCentres][kMaxOffset], f_difference[kCentres][kMaxOffset];
    Real d[kPassSums], f[kPassSums];
    Real series[kSlopeTerms];  ///< of slope / r in powers of r^2
};

/// w(q) of a pair: the weights of the channels times both factors, for scales of the classes u and
/// v.
template <class Real>
__device__ inline double pair_weight(const Scattering<Real>& from, const GradientWork& work,
                                     int row_type, int column_type, int u, int v, int k) {
    double sum = 0.0;
    int pair = 0;
    for (int a = 0; a < from.channels; ++a) {
        for (int b = a; b < from.channels; ++b, ++pair) {
            if (!concerns(from, u, v, a, b)) continue;
            const double weight = work.weight[Index{pair} * from.q_count + k];
            if (from.class_of[a] == u && from.class_of[b] == v)
                sum += weight * factor_of(from, a, row_type, k) * factor_of(from, b, column_type, k);
            if (a != b && from.class_of[b] == u && from.class_of[a] == v)
                sum += weight * factor_of(from, b, row_type, k) * factor_of(from, a, column_type, k);
        }
    }
    return sum;
}

/// Computes the factors of a pass, each lane every 32nd q.
template <class Real>
__device__ inline void make_factors(const Scattering<Real>& from, const GradientWork& work,
                                    int row_type, int column_type, int u, int v, int pass, int lane,
                                    SlopeFactors<Real>& factors) {
    double series[kSlopeTerms] = {};
    // 2 n / (2 n + 1)! with alternating signs: of the derivative of sin(x) / x.
    constexpr double kTerms[kSlopeTerms] = {-1.0 / 3,     1.0 / 30,       -1.0 / 840,
                                            1.0 / 45360, -1.0 / 3991680, 1.0 / 518918400};
    for (int n = lane; n < kPassSums; n += kLanes) {
        const int k = pass * kPassSums + n;
        const double inverse_q = k < from.q_count ? from.inverse_q[k] : 0.0;
        // The intensity at q = 0 does not depend on positions.
        const double d = inverse_q > 0.0
                             ? pair_weight(from, work, row_type, column_type, u, v, k)
                             : 0.0;
        factors.d[n] = static_cast<Real>(d);
        factors.f[n] = static_cast<Real>(d * inverse_q);
        const double squared = inverse_q > 0.0 ? 1.0 / (inverse_q * inverse_q) : 0.0;
        double power = d;
        for (int term = 0; term < kSlopeTerms; ++term)
            series[term] += kTerms[term] * (power *= squared);
    }
    for (int term = 0; term < kSlopeTerms; ++term) {
        for (int offset = kLanes / 2; offset > 0; offset /= 2)
            series[term] += __shfl_xor_sync(~0u, series[term], offset);
        if (lane == 0) factors.series[term] = static_cast<Real>(series[term]);
    }
    __syncwarp();
    for (int n = lane; n < kCentres * kMaxOffset; n += kLanes) {
        const int m = n / kMaxOffset, t = n % kMaxOffset;
        const int centre = m * kOffsetCount + kMaxOffset, up = centre + t + 1;
        const int down = centre - t - 1;
        factors.d_sum[m][t] = factors.d[up] + factors.d[down];
        factors.d_difference[m][t] = factors.d[up] - factors.d[down];
        factors.f_sum[m][t] = factors.f[up] + factors.f[down];
        factors.f_difference[m][t] = factors.f[up] - factors.f[down];
    }
    __syncwarp();
}

/// The sum of d cos(q r) - f sin(q r) / r over a pass of evenly spaced q.
template <class Real>
__device__ inline Real even_slope(const SlopeFactors<Real>& factors, const Pass<Real>& pass,
                                  bool is_from_zero, Real r, Real inverse) {
    const Steps<Real> steps(wave_of(r, pass.step));
    const Wave<Real> turn = steps.between_centres();
    Wave<Real> centre = is_from_zero ? steps.of[kMaxOffset - 1] : wave_of(r, pass.start);
    Real sum = 0;
#pragma unroll
    for (int m = 0; m < kCentres; ++m) {
        const int n = m * kOffsetCount + kMaxOffset;
        Real d_even = factors.d[n], d_odd = 0, f_even = factors.f[n], f_odd = 0;
#pragma unroll
        for (int t = 0; t < kMaxOffset; ++t) {
            d_even = multiply_add(factors.d_sum[m][t], steps.of[t].cosine, d_even);
            d_odd = multiply_add(factors.d_difference[m][t], steps.of[t].sine, d_odd);
            f_even = multiply_add(factors.f_sum[m][t], steps.of[t].cosine, f_even);
            f_odd = multiply_add(factors.f_difference[m][t], steps.of[t].sine, f_odd);
        }
        sum = multiply_add(centre.cosine, multiply_add(-inverse, f_odd, d_even), sum);
        sum = multiply_add(-centre.sine, multiply_add(inverse, f_even, d_odd), sum);
        centre = product(centre, turn);
    }
    return sum;
}

/// The same for any q.
template <class Real>
__device__ inline Real uneven_slope(const SlopeFactors<Real>& factors, const Pass<Real>& pass,
                                    Real r, Real inverse) {
    Real sum = 0;
    for (int n = 0; n < kPassSums; ++n) {
        const Wave<Real> wave = wave_of(r, pass.turns[n]);
        sum = multiply_add(factors.d[n], wave.cosine, sum);
        sum = multiply_add(-inverse * factors.f[n], wave.sine, sum);
    }
    return sum;
}

/// The slope of a pair divided by r. For small q r the difference of the two sums has no digits
/// left, and a series is as exact as Real.
template <bool kEven, class Real>
__device__ inline Real slope_by_distance(const SlopeFactors<Real>& factors, const Pass<Real>& pass,
                                         bool is_from_zero, Real largest_q, Real r, Real inverse) {
    if (largest_q * r < Real{1}) {
        const Real squared = r * r;
        Real sum = factors.series[kSlopeTerms - 1];
#pragma unroll
        for (int term = kSlopeTerms - 2; term >= 0; --term)
            sum = multiply_add(sum, squared, factors.series[term]);
        return sum;
    }
    const Real sum = kEven ? even_slope(factors, pass, is_from_zero, r, inverse)
                           : uneven_slope(factors, pass, r, inverse);
    return sum * inverse * inverse;
}

/// The part of a segment in a chunk of columns.
struct SegmentPart {
    Index first, count;
};
__device__ inline SegmentPart part_of(const TypeSegment& segment, Index first, Index end) {
    const Index from = segment.first > first ? segment.first : first;
    const Index segment_end = segment.first + segment.count;
    const Index to = segment_end < end ? segment_end : end;
    return {from, to > from ? to - from : 0};
}

/// Adds the slopes of the pairs of a lane's scatterer with some columns to `force` [axis].
template <bool kEven, class Real>
__device__ inline void add_columns(const Scattering<Real>& from, const GradientWork& work,
                                   const Positions<Real>& positions, const Point<Real>& row,
                                   const SegmentPart& part, int pass, int lane,
                                   const SlopeFactors<Real>& factors, Point<Real> (&columns)[kLanes],
                                   double (&force)[3]) {
    const Pass<Real> waves = from.passes[pass];
    const bool is_from_zero = pass == 0 && from.starts_at_zero != 0;
    const Real largest_q = static_cast<Real>(work.largest_q);
    for (Index first = 0; first < part.count; first += kLanes) {
        const int count = part.count - first < kLanes ? static_cast<int>(part.count - first) : kLanes;
        __syncwarp();
        if (lane < count) {
            const auto index = static_cast<std::int32_t>(part.first + first + lane);
            columns[lane] = positions.point(index);
            columns[lane].scale = positions.of_column(index);
        }
        __syncwarp();
        Real sum[3] = {};
        for (int n = 0; n < count; ++n) {
            const Point<Real> column = columns[n];
            Real inverse;
            const Real r = pair_distance(row, column, inverse);
            const Real slope = column.scale * slope_by_distance<kEven>(factors, waves, is_from_zero,
                                                                       largest_q, r, inverse);
            sum[0] = multiply_add(slope, row.x - column.x, sum[0]);
            sum[1] = multiply_add(slope, row.y - column.y, sum[1]);
            sum[2] = multiply_add(slope, row.z - column.z, sum[2]);
        }
        for (int axis = 0; axis < 3; ++axis)
            force[axis] += static_cast<double>(row.scale) * static_cast<double>(sum[axis]);
    }
}

/// The scales of a class; null: all 1.
template <class Real>
__device__ inline const float* scales_of(const Scattering<Real>& from, const GradientWork& work,
                                         int of_class) {
    const int scale = of_class - from.has_unscaled_class;
    return scale < 0 ? nullptr : work.scales + scale * work.scatterer_count;
}

/// Each warp takes a piece of rows, a row per lane, and a chunk of columns.
template <bool kEven, class Real>
__global__ void __launch_bounds__(kWarps* kLanes) sum_slopes(Scattering<Real> from,
                                                             GradientWork work) {
    __shared__ SlopeFactors<Real> all_factors[kWarps];
    __shared__ Point<Real> all_columns[kWarps][kLanes];
    const int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const int piece = blockIdx.x * kWarps + warp;
    if (piece >= work.piece_count) return;  // all lanes alike
    SlopeFactors<Real>& factors = all_factors[warp];
    const TypeSegment rows = work.pieces[piece];
    const auto row_index = static_cast<std::int32_t>(
        rows.first + (lane < rows.count ? lane : rows.count - 1));
    const Index first = blockIdx.y * work.chunk;
    const Index end = first + work.chunk < work.scatterer_count ? first + work.chunk
                                                                : work.scatterer_count;
    double force[3] = {};
    for (int n = 0; n < work.segment_count; ++n) {
        const TypeSegment segment = work.segments[n];
        const SegmentPart part = part_of(segment, first, end);
        if (part.count == 0) continue;
        for (int weighting = 0; weighting < from.classes * from.classes; ++weighting) {
            const int u = weighting / from.classes, v = weighting % from.classes;
            const Positions<Real> positions{work.xyz, work.scatterer_count,
                                            scales_of(from, work, u), scales_of(from, work, v)};
            Point<Real> row = positions.point(row_index);
            row.scale = positions.of_row(row_index);
            for (int pass = 0; pass < from.pass_count; ++pass) {
                __syncwarp();
                make_factors(from, work, rows.type, segment.type, u, v, pass, lane, factors);
                add_columns<kEven>(from, work, positions, row, part, pass, lane, factors,
                                   all_columns[warp], force);
            }
        }
    }
    if (lane >= rows.count) return;
    for (int axis = 0; axis < 3; ++axis)
        work.chunk_sums[(Index{blockIdx.y} * 3 + axis) * work.scatterer_count + row_index] =
            force[axis];
}

/// The gradient as the sum over chunks, in their order; times two, since profiles contain each pair
/// in both orders.
static __global__ void __launch_bounds__(kWarps* kLanes) add_chunks(GradientWork work,
                                                                    Index chunks) {
    const Index size = 3 * work.scatterer_count;
    const Index n = Index{blockIdx.x} * kWarps * kLanes + threadIdx.x;
    if (n >= size) return;
    double sum = 0.0;
    for (Index chunk = 0; chunk < chunks; ++chunk) sum += work.chunk_sums[chunk * size + n];
    work.gradient[n] = 2.0 * sum;
}

}  // namespace pleat::saxs::cuda
