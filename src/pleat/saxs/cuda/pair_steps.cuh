// Steps of the CUDA kernels of saxs: the work of a lane on the pairs of a task.
#pragma once

#include <cmath>
#include <cstdint>

#include "pleat/core/view.h"
#include "pleat/saxs/cuda/task_table.h"
#include "pleat/saxs/debye/sine_grid.h"

namespace pleat::saxs::cuda {

/// A scatterer: its position, and its scale as a row or column.
struct alignas(16) Point {
    float x, y, z, scale;
};

/// Columns whose positions a warp keeps at a time; pieces of segments are kept twice.
inline constexpr int kKeptColumns = 128;

/// The scatterers of a task in the shared memory of a warp.
struct KeptScatterers {
    Point points[kKeptColumns + kLanes];  ///< columns, then rows
    float others[kKeptColumns];           ///< scales as columns, for pairs inside a piece
};

/// The positions of a set.
struct Positions {
    const float* xyz;  ///< [axis, sorted scatterer]
    Index stride;
    const float* row_scale;  ///< [sorted scatterer]; null: 1
    const float* column_scale;

    __device__ inline Point point(std::int32_t index) const {
        return {xyz[index], xyz[stride + index], xyz[2 * stride + index], 1.0f};
    }
    __device__ inline float of_row(std::int32_t index) const {
        return row_scale != nullptr ? row_scale[index] : 1.0f;
    }
    __device__ inline float of_column(std::int32_t index) const {
        return column_scale != nullptr ? column_scale[index] : 1.0f;
    }
};
struct Wave {
    float sine, cosine;
};

/// The value, with its sign changed if bit 31 of `sign` is set.
__device__ inline float turned(float value, std::uint32_t sign) {
    return __uint_as_float(__float_as_uint(value) ^ sign);
}

/// The phase without its half turns; bit 31 of `sign` says whether their number is odd. Phases must
/// be below 2^21 turns: a number of 1.5 * 2^23 added rounds to whole ones and leaves the odd one in
/// the last bit.
__device__ inline float reduced_phase(float r, SplitNumber<float> turn, std::uint32_t& sign) {
    constexpr float kRounder = 12582912.0f;
    const float whole = fmaf(r, turn.high, r * turn.low);
    const float shifted = fmaf(whole, 2.0f, kRounder);
    sign = __float_as_uint(shifted) << 31;
    return fmaf(shifted - kRounder, -0.5f, whole);
}

/// sin(2 pi v) and cos(2 pi v), |v| <= 1/4: the polynomials of sines-inl.h.
__device__ inline float sine_polynomial(float v, float y) {
    float sum = -14.0371218f;
    sum = fmaf(sum, y, 41.9517975f);
    sum = fmaf(sum, y, -76.7009583f);
    sum = fmaf(sum, y, 81.6051483f);
    sum = fmaf(sum, y, -41.3417015f);
    sum = fmaf(sum, y, 0.00193530705f);
    return fmaf(v, 6.28125f, v * sum);
}
__device__ inline Wave wave_of(float r, SplitNumber<float> turn) {
    std::uint32_t sign;
    const float v = reduced_phase(r, turn, sign), y = v * v;
    float sum = -24.7527618f;
    sum = fmaf(sum, y, 60.107357f);
    sum = fmaf(sum, y, -85.4515228f);
    sum = fmaf(sum, y, 64.9393005f);
    sum = fmaf(sum, y, -19.7392082f);
    sum = fmaf(sum, y, 1.0f);
    return {turned(sine_polynomial(v, y), sign), turned(sum, sign)};
}
__device__ inline Wave product(Wave a, Wave b) {
    return {fmaf(a.sine, b.cosine, a.cosine * b.sine), fmaf(a.cosine, b.cosine, -a.sine * b.sine)};
}
__device__ inline Wave doubled(Wave a) {
    const float more = a.sine + a.sine;
    return {more * a.cosine, fmaf(-more, a.sine, 1.0f)};
}
/// The wave that follows `a` and `b` in equal steps; `twice`: two times the cosine of a step.
__device__ inline Wave following(Wave b, Wave a, float twice) {
    return {fmaf(twice, b.sine, -a.sine), fmaf(twice, b.cosine, -a.cosine)};
}

/// 1 / r, with Newton's step, of a distance that is at least 1e-6 angstrom.
__device__ inline float inverse_root(float squared) {
    const float y = pleat::cuda::rough_inverse_root(squared);
    const float rough = squared * y;
    return fmaf(0.5f * y, fmaf(-rough, y, 1.0f), y);
}

/// Angstrom. At longer distances float32 phases have no correct digits, and the number of half
/// turns would overflow.
inline constexpr float kMaxDistance = 1e6f;

/// Sums of a lane: of centres, and of products with the steps on both sides.
struct LaneSums {
    float centre[kCentres];
    float plus[kCentres][kMaxOffset], minus[kCentres][kMaxOffset];
};

__device__ inline void add_step(LaneSums& sums, const Wave (&centre)[kCentres], int t, Wave step) {
#pragma unroll
    for (int m = 0; m < kCentres; ++m) {
        sums.plus[m][t - 1] = fmaf(centre[m].sine, step.cosine, sums.plus[m][t - 1]);
        sums.minus[m][t - 1] = fmaf(centre[m].cosine, step.sine, sums.minus[m][t - 1]);
    }
}

/// Adds a pair at distance r, weighted by `weight` = w / r. If q begins at 0, the first centre is
/// the eighth step and needs no separate sine.
template <bool kFromZero>
__device__ inline void add_pair(LaneSums& sums, const Pass& pass, float r, float weight) {
    const Wave s1 = wave_of(r, pass.step), s2 = doubled(s1);
    const float twice = s1.cosine + s1.cosine;
    const Wave s3 = following(s2, s1, twice), s4 = doubled(s2), s5 = following(s4, s3, twice);
    const Wave s6 = doubled(s3), s7 = following(s6, s5, twice), s8 = doubled(s4);
    const Wave turn = product(doubled(s8), s1);
    Wave centre[kCentres];
    centre[0] = kFromZero ? s8 : wave_of(r, pass.start);
    centre[0].sine *= weight;
    centre[0].cosine *= weight;
#pragma unroll
    for (int m = 1; m < kCentres; ++m) centre[m] = product(centre[m - 1], turn);
#pragma unroll
    for (int m = 0; m < kCentres; ++m) sums.centre[m] += centre[m].sine;
    add_step(sums, centre, 1, s1);
    add_step(sums, centre, 2, s2);
    add_step(sums, centre, 3, s3);
    add_step(sums, centre, 4, s4);
    add_step(sums, centre, 5, s5);
    add_step(sums, centre, 6, s6);
    add_step(sums, centre, 7, s7);
    add_step(sums, centre, 8, s8);
}

/// The columns of a task that a warp keeps at a time.
struct Columns {
    std::int32_t first, count;
};

/// Copies the positions of a task's columns and rows into `kept`, each lane every 32nd. Pieces,
/// whose pairs are (i, i + d) modulo their size, are stored twice in succession.
template <bool kScaled, class From>
__device__ inline void copy_scatterers(KeptScatterers& kept, const Task& task,
                                       const Columns& columns, const From& from, int lane) {
    const auto row = [&](std::int32_t index) {
        Point point = from.point(index);
        if constexpr (kScaled) point.scale = from.of_row(index);
        return point;
    };
    for (int n = lane; n < columns.count; n += kLanes) {
        const std::int32_t index = columns.first + n;
        if (task.same_segment == 0) {
            Point point = from.point(index);
            if constexpr (kScaled) point.scale = from.of_column(index);
            kept.points[n] = point;
            continue;
        }
        kept.points[n] = kept.points[n + columns.count] = row(index);
        if constexpr (kScaled)
            kept.others[n] = kept.others[n + columns.count] = from.of_column(index);
    }
    if (task.same_segment == 0 && lane < task.rows)
        kept.points[kKeptColumns + lane] = row(task.row + lane);
}

/// Calls body(a, b), indices into `kept`, for every 32nd pair of the kept columns, from `lane` on,
/// without a division per pair.
template <class Body>
__device__ inline void for_pairs(const Task& task, int columns, int lane, const Body& body) {
    // Pairs inside a piece of n: (i, i + d) modulo n, which for an even n has half of the last d.
    const bool same_segment = task.same_segment != 0;
    const int count = same_segment ? columns * (columns - 1) / 2 : task.rows * columns;
    const int outer = lane / columns, more_outer = kLanes / columns, more = kLanes % columns;
    int a = lane % columns, b = same_segment ? a + outer + 1 : kKeptColumns + outer;
    const int more_b = same_segment ? more + more_outer : more_outer;
    const int wrapped = same_segment ? 1 - columns : 1;
#pragma unroll 1
    for (int pair = lane; pair < count; pair += kLanes) {
        body(a, b);
        a += more;
        b += more_b;
        if (a >= columns) {
            a -= columns;
            b += wrapped;
        }
    }
}

/// Distance of two points, and its inverse.
__device__ inline float pair_distance(const Point& a, const Point& b, float& inverse) {
    const float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    const float squared = fmaxf(fmaf(dx, dx, fmaf(dy, dy, dz * dz)), 1e-12f);
    inverse = inverse_root(squared);
    return fminf(squared * inverse, kMaxDistance);
}

/// Calls body(r, weight) for every 32nd pair of a task. Weights of pairs inside a piece are means
/// of both orders, (s_i t_j + t_i s_j) / 2, since these pairs are not ordered.
template <bool kScaled, class From, class Body>
__device__ inline void for_distances(const Task& task, const From& from, KeptScatterers& kept,
                                     int lane, const Body& body) {
    for (int first = 0; first < task.columns; first += kKeptColumns) {
        const int left = task.columns - first, count = left < kKeptColumns ? left : kKeptColumns;
        if (first > 0) __syncwarp();
        copy_scatterers<kScaled>(kept, task, {task.column + first, count}, from, lane);
        __syncwarp();
        for_pairs(task, count, lane, [&](int i, int j) {
            const Point a = kept.points[i], b = kept.points[j];
            float weight;
            const float r = pair_distance(a, b, weight);
            if constexpr (kScaled)
                weight *= task.same_segment == 0
                              ? a.scale * b.scale
                              : 0.5f * fmaf(a.scale, kept.others[j], b.scale * kept.others[i]);
            body(r, weight);
        });
    }
}

/// Sums of every 32nd pair of a task, [kPassSums] in the order of q, of evenly spaced q.
template <bool kScaled, bool kFromZero, class From>
__device__ inline void even_sums(const Task& task, const From& from, const Pass& pass,
                                 KeptScatterers& kept, int lane, float (&values)[2 * kLanes]) {
    LaneSums sums = {};
    for_distances<kScaled>(task, from, kept, lane, [&](float r, float weight) {
        add_pair<kFromZero>(sums, pass, r, weight);
    });
#pragma unroll
    for (int m = 0; m < kCentres; ++m) {
        values[m * kOffsetCount + kMaxOffset] = sums.centre[m];
#pragma unroll
        for (int t = 1; t <= kMaxOffset; ++t) {
            values[m * kOffsetCount + kMaxOffset + t] = sums.plus[m][t - 1] + sums.minus[m][t - 1];
            values[m * kOffsetCount + kMaxOffset - t] = sums.plus[m][t - 1] - sums.minus[m][t - 1];
        }
    }
#pragma unroll
    for (int n = kPassSums; n < 2 * kLanes; ++n) values[n] = 0.0f;
}

/// The same for any q.
template <bool kScaled, class From>
__device__ inline void uneven_sums(const Task& task, const From& from, const Pass& pass,
                                   KeptScatterers& kept, int lane, float (&values)[2 * kLanes]) {
#pragma unroll
    for (int n = 0; n < 2 * kLanes; ++n) values[n] = 0.0f;
    for_distances<kScaled>(task, from, kept, lane, [&](float r, float weight) {
#pragma unroll
        for (int n = 0; n < kPassSums; ++n) {
            std::uint32_t sign;
            const float v = reduced_phase(r, pass.turns[n], sign);
            values[n] = fmaf(turned(sine_polynomial(v, v * v), sign), weight, values[n]);
        }
    });
}

/// One step of the sum over lanes: a lane keeps one half of its values and gives the other half to
/// the lane at distance kOffset. After steps 16, 8, 4, 2, 1, lane n has the sums of values 2 n and
/// 2 n + 1.
template <int kOffset>
__device__ inline void halve(float (&values)[2 * kLanes], int lane) {
    const bool upper = (lane & kOffset) != 0;
#pragma unroll
    for (int n = 0; n < 2 * kOffset; ++n) {
        const float given = upper ? values[n] : values[n + 2 * kOffset];
        const float kept = upper ? values[n + 2 * kOffset] : values[n];
        values[n] = kept + __shfl_xor_sync(~0u, given, kOffset);
    }
}
__device__ inline void sum_over_lanes(float (&values)[2 * kLanes], int lane) {
    halve<16>(values, lane);
    halve<8>(values, lane);
    halve<4>(values, lane);
    halve<2>(values, lane);
    halve<1>(values, lane);
}

}  // namespace pleat::saxs::cuda
