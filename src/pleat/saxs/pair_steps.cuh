// Steps of the CUDA kernels of saxs: what a lane does for the pairs of a task, on host and device.
#pragma once

#include <cmath>
#include <cstdint>

#include "pleat/core/view.h"
#include "pleat/saxs/device_code.h"
#include "pleat/saxs/sine_grid.h"
#include "pleat/saxs/task_table.h"

namespace pleat::saxs::cuda {

/// The positions of a set.
struct Positions {
    const float* xyz;  ///< [axis, slot]
    Index stride;
    const float* row_scale;  ///< [slot]; null: 1
    const float* column_scale;
};
struct Wave {
    float sine, cosine;
};

/// The float whose bits are those of `value` with the sign turned where `odd` is odd.
PLEAT_DEVICE float turned(float value, bool odd) { return odd ? -value : value; }

/// The phase less half turns, which are told odd or even. Phases must be below 2^21 turns.
PLEAT_DEVICE float reduced_phase(float r, Split<float> turn, bool& odd) {
    const float whole = fmaf(r, turn.high, r * turn.low);
    const float halves = rintf(whole + whole);
    odd = (static_cast<int>(halves) & 1) != 0;
    return fmaf(halves, -0.5f, whole);
}

/// sin(2 pi v) and cos(2 pi v), |v| <= 1/4: the polynomials of sines-inl.h.
PLEAT_DEVICE float sine_polynomial(float v, float y) {
    float sum = -14.0371218f;
    sum = fmaf(sum, y, 41.9517975f);
    sum = fmaf(sum, y, -76.7009583f);
    sum = fmaf(sum, y, 81.6051483f);
    sum = fmaf(sum, y, -41.3417015f);
    sum = fmaf(sum, y, 0.00193530705f);
    return fmaf(v, 6.28125f, v * sum);
}
PLEAT_DEVICE Wave wave_of(float r, Split<float> turn) {
    bool odd;
    const float v = reduced_phase(r, turn, odd), y = v * v;
    float sum = -24.7527618f;
    sum = fmaf(sum, y, 60.107357f);
    sum = fmaf(sum, y, -85.4515228f);
    sum = fmaf(sum, y, 64.9393005f);
    sum = fmaf(sum, y, -19.7392082f);
    sum = fmaf(sum, y, 1.0f);
    return {turned(sine_polynomial(v, y), odd), turned(sum, odd)};
}
PLEAT_DEVICE Wave product(Wave a, Wave b) {
    return {fmaf(a.sine, b.cosine, a.cosine * b.sine),
            fmaf(a.cosine, b.cosine, -a.sine * b.sine)};
}
PLEAT_DEVICE Wave doubled(Wave a) {
    const float more = a.sine + a.sine;
    return {more * a.cosine, fmaf(-more, a.sine, 1.0f)};
}
/// The wave after `b` where `a` was before it, steps of one wave whose cosine twice is `twice`.
PLEAT_DEVICE Wave following(Wave b, Wave a, float twice) {
    return {fmaf(twice, b.sine, -a.sine), fmaf(twice, b.cosine, -a.cosine)};
}

/// 1 / r, with Newton's step, of a distance that is at least 1e-6 angstrom.
PLEAT_DEVICE float inverse_root(float squared) {
#ifdef __CUDACC__
    const float y = rsqrtf(squared);
#else
    const float y = 1.0f / sqrtf(squared);
#endif
    const float rough = squared * y;
    return fmaf(0.5f * y, fmaf(-rough, y, 1.0f), y);
}

/// Angstrom: beyond it phases are noise, and the half turns would not fit.
inline constexpr float kMostDistance = 1e6f;

/// Sums of a lane: of centres, and of products with the steps to either side.
struct LaneSums {
    float centre[kCentres];
    float plus[kCentres][kReach], minus[kCentres][kReach];
};

PLEAT_DEVICE void add_step(LaneSums& sums, const Wave (&centre)[kCentres], int t,
                                       Wave step) {
#pragma unroll
    for (int m = 0; m < kCentres; ++m) {
        sums.plus[m][t - 1] = fmaf(centre[m].sine, step.cosine, sums.plus[m][t - 1]);
        sums.minus[m][t - 1] = fmaf(centre[m].cosine, step.sine, sums.minus[m][t - 1]);
    }
}

/// Adds a pair at distance r, weighted by `weight` = w / r.
PLEAT_DEVICE void add_pair(LaneSums& sums, const Pass& pass, float r, float weight) {
    const Wave s1 = wave_of(r, pass.step), s2 = doubled(s1);
    const float twice = s1.cosine + s1.cosine;
    const Wave s3 = following(s2, s1, twice), s4 = doubled(s2), s5 = following(s4, s3, twice);
    const Wave s6 = doubled(s3), s7 = following(s6, s5, twice), s8 = doubled(s4);
    const Wave turn = product(doubled(s8), s1);
    Wave centre[kCentres];
    centre[0] = wave_of(r, pass.start);
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

/// Calls body(row slot, column slot) for every 32nd pair of a task, from `lane` on, without a
/// division a pair.
template <class Body>
PLEAT_DEVICE void for_pairs(const Task& task, int lane, const Body& body) {
    const int columns = task.columns;
    // Pairs inside a piece of n: (i, i + d) modulo n, which for an even n has half of the last d.
    const int count =
        task.inner != 0 ? columns * (columns - 1) / 2 : task.rows * columns;
    int outer = lane / columns, at = lane % columns;
    const int more_outer = kLanes / columns, more = kLanes % columns;
    for (int pair = lane; pair < count; pair += kLanes) {
        if (task.inner != 0) {
            int other = at + outer + 1;
            if (other >= columns) other -= columns;
            body(task.row + at, task.row + other);
        } else {
            body(task.row + outer, task.column + at);
        }
        at += more;
        outer += more_outer;
        if (at >= columns) {
            at -= columns;
            ++outer;
        }
    }
}

/// Distance and weight of a pair of slots.
PLEAT_DEVICE float pair_distance(const Positions& from, int i, int j, float& weight) {
    const float dx = from.xyz[i] - from.xyz[j];
    const float dy = from.xyz[from.stride + i] - from.xyz[from.stride + j];
    const float dz = from.xyz[2 * from.stride + i] - from.xyz[2 * from.stride + j];
    const float squared =
        fmaxf(fmaf(dx, dx, fmaf(dy, dy, dz * dz)), 1e-12f);
    const float inverse = inverse_root(squared);
    weight = inverse;
    if (from.row_scale != nullptr) weight *= from.row_scale[i];
    if (from.column_scale != nullptr) weight *= from.column_scale[j];
    return fminf(squared * inverse, kMostDistance);
}

/// Weights of pairs inside a piece stand for either order, since its pairs have no order of their
/// own: (s_i t_j + t_i s_j) / 2.
PLEAT_DEVICE float inner_distance(const Positions& from, int i, int j, float& weight) {
    float other;
    const float r = pair_distance(from, i, j, weight);
    pair_distance(from, j, i, other);
    weight = 0.5f * (weight + other);
    return r;
}

/// Sums of every 32nd pair of a task, [kPassSums] in the order of q, of evenly spaced q.
PLEAT_DEVICE void even_sums(const Task& task, const Positions& from, const Pass& pass,
                                        int lane, float (&values)[2 * kLanes]) {
    LaneSums sums = {};
    const bool ordered = from.row_scale == from.column_scale;
    for_pairs(task, lane, [&](int i, int j) {
        float weight;
        const float r = task.inner != 0 && !ordered ? inner_distance(from, i, j, weight)
                                                    : pair_distance(from, i, j, weight);
        add_pair(sums, pass, r, weight);
    });
#pragma unroll
    for (int m = 0; m < kCentres; ++m) {
        values[m * kSpan + kReach] = sums.centre[m];
#pragma unroll
        for (int t = 1; t <= kReach; ++t) {
            values[m * kSpan + kReach + t] = sums.plus[m][t - 1] + sums.minus[m][t - 1];
            values[m * kSpan + kReach - t] = sums.plus[m][t - 1] - sums.minus[m][t - 1];
        }
    }
#pragma unroll
    for (int n = kPassSums; n < 2 * kLanes; ++n) values[n] = 0.0f;
}

/// The same for any q.
PLEAT_DEVICE void uneven_sums(const Task& task, const Positions& from,
                                          const Pass& pass, int lane,
                                          float (&values)[2 * kLanes]) {
#pragma unroll
    for (int n = 0; n < 2 * kLanes; ++n) values[n] = 0.0f;
    const bool ordered = from.row_scale == from.column_scale;
    for_pairs(task, lane, [&](int i, int j) {
        float weight;
        const float r = task.inner != 0 && !ordered ? inner_distance(from, i, j, weight)
                                                    : pair_distance(from, i, j, weight);
#pragma unroll
        for (int n = 0; n < kPassSums; ++n) {
            bool odd;
            const float v = reduced_phase(r, pass.turns[n], odd);
            values[n] = fmaf(turned(sine_polynomial(v, v * v), odd), weight, values[n]);
        }
    });
}

/// One step of the sum over lanes: values in pairs of halves, of which a lane keeps one and gives
/// the other to the lane kOffset away. After steps 16, 8, 4, 2, 1 lane n has the sums of values 2 n
/// and 2 n + 1.
template <int kOffset, class Exchange>
PLEAT_DEVICE void halve(float (&values)[2 * kLanes], int lane,
                                    const Exchange& exchange) {
    const bool upper = (lane & kOffset) != 0;
#pragma unroll
    for (int n = 0; n < 2 * kOffset; ++n) {
        const float given = upper ? values[n] : values[n + 2 * kOffset];
        const float kept = upper ? values[n + 2 * kOffset] : values[n];
        values[n] = kept + exchange(given, kOffset);
    }
}
template <class Exchange>
PLEAT_DEVICE void sum_over_lanes(float (&values)[2 * kLanes], int lane,
                                             const Exchange& exchange) {
    halve<16>(values, lane, exchange);
    halve<8>(values, lane, exchange);
    halve<4>(values, lane, exchange);
    halve<2>(values, lane, exchange);
    halve<1>(values, lane, exchange);
}

}  // namespace pleat::saxs::cuda
