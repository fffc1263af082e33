// CUDA kernels of saxs: a warp sums the pairs of a task, then the sums of a job's tasks times form
// factors.
#pragma once

#include <cmath>
#include <cstdint>

#include "pleat/core/view.h"
#include "pleat/saxs/cuda/task_tables.h"
#include "pleat/saxs/debye/body_pairs.h"
#include "pleat/saxs/debye/sine_grid.h"

namespace pleat::saxs::cuda {

/// A scatterer: its position, and its scale as a row or column.
template <class Real>
struct alignas(16) Point {
    Real x, y, z, scale;
};

/// Number of columns whose positions a warp stores at a time; pieces of segments are stored twice.
inline constexpr int kKeptColumns = 128;

/// A task's scatterers in the shared memory of a warp.
template <class Real>
struct KeptScatterers {
    Point<Real> points[kKeptColumns + kLanes];  ///< columns, then rows
    Real others[kKeptColumns];                  ///< scales as columns, for pairs inside a piece
};

/// The positions of a set, in the type Real of the computation.
template <class Real>
struct Positions {
    const float* xyz;  ///< [axis, sorted scatterer]
    Index stride;
    const float* row_scale;  ///< [sorted scatterer]; null: 1
    const float* column_scale;

    __device__ inline Point<Real> point(std::int32_t index) const {
        return {xyz[index], xyz[stride + index], xyz[2 * stride + index], 1};
    }
    __device__ inline Real of_row(std::int32_t index) const {
        return row_scale != nullptr ? row_scale[index] : 1.0f;
    }
    __device__ inline Real of_column(std::int32_t index) const {
        return column_scale != nullptr ? column_scale[index] : 1.0f;
    }
};
template <class Real>
struct Wave {
    Real sine, cosine;
};

/// Returns the value, negated if bit 31 of `sign` is set.
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
__device__ inline Wave<float> wave_of(float r, SplitNumber<float> turn) {
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
/// The same in float64, by Taylor series to the power 18.
__device__ inline Wave<double> wave_of(double r, SplitNumber<double> turn) {
    const double whole = fma(r, turn.high, r * turn.low), half_turns = rint(2.0 * whole);
    const double angle = kTurn * fma(half_turns, -0.5, whole), y = angle * angle;
    double sine = 1.0 / 355687428096000.0;
    sine = fma(sine, y, -1.0 / 1307674368000.0);
    sine = fma(sine, y, 1.0 / 6227020800.0);
    sine = fma(sine, y, -1.0 / 39916800.0);
    sine = fma(sine, y, 1.0 / 362880.0);
    sine = fma(sine, y, -1.0 / 5040.0);
    sine = fma(sine, y, 1.0 / 120.0);
    sine = fma(sine, y, -1.0 / 6.0);
    sine = fma(sine * y, angle, angle);
    double cosine = -1.0 / 6402373705728000.0;
    cosine = fma(cosine, y, 1.0 / 20922789888000.0);
    cosine = fma(cosine, y, -1.0 / 87178291200.0);
    cosine = fma(cosine, y, 1.0 / 479001600.0);
    cosine = fma(cosine, y, -1.0 / 3628800.0);
    cosine = fma(cosine, y, 1.0 / 40320.0);
    cosine = fma(cosine, y, -1.0 / 720.0);
    cosine = fma(cosine, y, 1.0 / 24.0);
    cosine = fma(cosine, y, -0.5);
    cosine = fma(cosine, y, 1.0);
    const double sign = fma(-2.0, fabs(half_turns - 2.0 * rint(0.5 * half_turns)), 1.0);
    return {sign * sine, sign * cosine};
}
/// sin(2 pi turn r).
__device__ inline float sine_of(float r, SplitNumber<float> turn) {
    std::uint32_t sign;
    const float v = reduced_phase(r, turn, sign);
    return turned(sine_polynomial(v, v * v), sign);
}
__device__ inline double sine_of(double r, SplitNumber<double> turn) {
    return wave_of(r, turn).sine;
}

__device__ inline float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
__device__ inline double multiply_add(double a, double b, double c) { return fma(a, b, c); }

template <class Real>
__device__ inline Wave<Real> product(Wave<Real> a, Wave<Real> b) {
    return {multiply_add(a.sine, b.cosine, a.cosine * b.sine),
            multiply_add(a.cosine, b.cosine, -a.sine * b.sine)};
}
template <class Real>
__device__ inline Wave<Real> doubled(Wave<Real> a) {
    const Real more = a.sine + a.sine;
    return {more * a.cosine, multiply_add(-more, a.sine, Real{1})};
}
/// The wave that follows `a` and `b` in equal steps; `twice`: two times the cosine of a step.
template <class Real>
__device__ inline Wave<Real> following(Wave<Real> b, Wave<Real> a, Real twice) {
    return {multiply_add(twice, b.sine, -a.sine), multiply_add(twice, b.cosine, -a.cosine)};
}

/// 1 / r, with one Newton step; distances count as at least 1e-6 angstrom.
__device__ inline float inverse_root(float squared) {
    const float y = pleat::cuda::rough_inverse_root(squared);
    const float rough = squared * y;
    return fmaf(0.5f * y, fmaf(-rough, y, 1.0f), y);
}
__device__ inline double inverse_root(double squared) {
    double y = inverse_root(static_cast<float>(squared));
    y = fma(0.5 * y, fma(-squared * y, y, 1.0), y);
    return fma(0.5 * y, fma(-squared * y, y, 1.0), y);
}

/// Angstrom. At longer distances float32 phases have no correct digits, and the number of half
/// turns would overflow.
inline constexpr float kMaxDistance = 1e6f;

/// The waves of 1, 2, ..., kMaxOffset steps.
template <class Real>
struct Steps {
    Wave<Real> of[kMaxOffset];

    __device__ inline explicit Steps(Wave<Real> first) {
        const Real twice = first.cosine + first.cosine;
        of[0] = first;
        of[1] = doubled(first);
        of[2] = following(of[1], of[0], twice);
        of[3] = doubled(of[1]);
        of[4] = following(of[3], of[2], twice);
        of[5] = doubled(of[2]);
        of[6] = following(of[5], of[4], twice);
        of[7] = doubled(of[3]);
    }
    /// From a centre to the next one.
    __device__ inline Wave<Real> between_centres() const { return product(doubled(of[7]), of[0]); }
};

/// Sums of a lane: of centres, and of products with the steps on both sides.
template <class Real>
struct LaneSineSums {
    Real centre[kCentres];
    Real plus[kCentres][kMaxOffset], minus[kCentres][kMaxOffset];
};

/// Adds a pair at distance r, weighted by `weight` = w / r. If q begins at 0, the first centre is
/// the eighth step and needs no separate sine.
template <bool kFromZero, class Real>
__device__ inline void add_pair(LaneSineSums<Real>& sums, const Pass<Real>& pass, Real r,
                                Real weight) {
    const Steps<Real> steps(wave_of(r, pass.step));
    const Wave<Real> turn = steps.between_centres();
    Wave<Real> centre[kCentres];
    centre[0] = kFromZero ? steps.of[kMaxOffset - 1] : wave_of(r, pass.start);
    centre[0].sine *= weight;
    centre[0].cosine *= weight;
#pragma unroll
    for (int m = 1; m < kCentres; ++m) centre[m] = product(centre[m - 1], turn);
#pragma unroll
    for (int m = 0; m < kCentres; ++m) sums.centre[m] += centre[m].sine;
#pragma unroll
    for (int t = 0; t < kMaxOffset; ++t) {
        const Wave<Real> step = steps.of[t];
#pragma unroll
        for (int m = 0; m < kCentres; ++m) {
            sums.plus[m][t] = multiply_add(centre[m].sine, step.cosine, sums.plus[m][t]);
            sums.minus[m][t] = multiply_add(centre[m].cosine, step.sine, sums.minus[m][t]);
        }
    }
}

/// Writes a lane's sums, [kPassSums] in the order of q.
template <class Real, int kCount>
__device__ inline void put_in_order(const LaneSineSums<Real>& sums, Real (&values)[kCount]) {
#pragma unroll
    for (int m = 0; m < kCentres; ++m) {
        values[m * kOffsetCount + kMaxOffset] = sums.centre[m];
#pragma unroll
        for (int t = 1; t <= kMaxOffset; ++t) {
            values[m * kOffsetCount + kMaxOffset + t] = sums.plus[m][t - 1] + sums.minus[m][t - 1];
            values[m * kOffsetCount + kMaxOffset - t] = sums.plus[m][t - 1] - sums.minus[m][t - 1];
        }
    }
}

/// The columns of a task that a warp keeps at a time.
struct KeptColumns {
    std::int32_t first, count;
};

/// Copies the positions of a task's columns and rows into `kept`, each lane every 32nd. Pieces,
/// whose pairs are (i, i + d) modulo their size, are stored twice in succession.
template <bool kScaled, class Real>
__device__ inline void copy_scatterers(KeptScatterers<Real>& kept, const Task& task,
                                       const KeptColumns& columns, const Positions<Real>& from,
                                       int lane) {
    const auto row = [&](std::int32_t index) {
        Point<Real> point = from.point(index);
        if constexpr (kScaled) point.scale = from.of_row(index);
        return point;
    };
    for (int n = lane; n < columns.count; n += kLanes) {
        const std::int32_t index = columns.first + n;
        if (task.same_segment == 0) {
            Point<Real> point = from.point(index);
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
__device__ inline float pair_distance(const Point<float>& a, const Point<float>& b,
                                      float& inverse) {
    const float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    const float squared = fmaxf(fmaf(dx, dx, fmaf(dy, dy, dz * dz)), 1e-12f);
    inverse = inverse_root(squared);
    return fminf(squared * inverse, kMaxDistance);
}
__device__ inline double pair_distance(const Point<double>& a, const Point<double>& b,
                                       double& inverse) {
    const double dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    const double squared = fmax(fma(dx, dx, fma(dy, dy, dz * dz)), 1e-12);
    inverse = inverse_root(squared);
    return squared * inverse;
}

/// Calls body(r, weight) for every 32nd pair of a task. Weights of pairs inside a piece are means
/// of both orders, (s_i t_j + t_i s_j) / 2, since these pairs are not ordered.
template <bool kScaled, class Real, class Body>
__device__ inline void for_distances(const Task& task, const Positions<Real>& from,
                                     KeptScatterers<Real>& kept, int lane, const Body& body) {
    for (int first = 0; first < task.columns; first += kKeptColumns) {
        const int left = task.columns - first, count = left < kKeptColumns ? left : kKeptColumns;
        if (first > 0) __syncwarp();
        copy_scatterers<kScaled>(kept, task, {task.column + first, count}, from, lane);
        __syncwarp();
        for_pairs(task, count, lane, [&](int i, int j) {
            const Point<Real> a = kept.points[i], b = kept.points[j];
            Real weight;
            const Real r = pair_distance(a, b, weight);
            if constexpr (kScaled)
                weight *= task.same_segment == 0
                              ? a.scale * b.scale
                              : Real{0.5} *
                                    multiply_add(a.scale, kept.others[j], b.scale * kept.others[i]);
            body(r, weight);
        });
    }
}

/// Sums over every 32nd pair of a task for evenly spaced q, [kPassSums] in the order of q.
template <bool kScaled, bool kFromZero, class Real>
__device__ inline void even_sums(const Task& task, const Positions<Real>& from,
                                 const Pass<Real>& pass, KeptScatterers<Real>& kept, int lane,
                                 Real (&values)[2 * kLanes]) {
    LaneSineSums<Real> sums = {};
    for_distances<kScaled>(task, from, kept, lane, [&](Real r, Real weight) {
        add_pair<kFromZero>(sums, pass, r, weight);
    });
    put_in_order(sums, values);
#pragma unroll
    for (int n = kPassSums; n < 2 * kLanes; ++n) values[n] = 0;
}

/// The same for any q.
template <bool kScaled, class Real>
__device__ inline void uneven_sums(const Task& task, const Positions<Real>& from,
                                   const Pass<Real>& pass, KeptScatterers<Real>& kept, int lane,
                                   Real (&values)[2 * kLanes]) {
#pragma unroll
    for (int n = 0; n < 2 * kLanes; ++n) values[n] = 0;
    for_distances<kScaled>(task, from, kept, lane, [&](Real r, Real weight) {
#pragma unroll
        for (int n = 0; n < kPassSums; ++n)
            values[n] = multiply_add(sine_of(r, pass.turns[n]), weight, values[n]);
    });
}

/// One step of the sum over lanes: a lane keeps one half of its values and gives the other half to
/// the lane at distance kOffset. After steps 16, 8, 4, 2, 1, lane n has the sums of values 2 n and
/// 2 n + 1.
template <int kOffset, class Real>
__device__ inline void halve(Real (&values)[2 * kLanes], int lane) {
    const bool upper = (lane & kOffset) != 0;
#pragma unroll
    for (int n = 0; n < 2 * kOffset; ++n) {
        const Real given = upper ? values[n] : values[n + 2 * kOffset];
        const Real kept = upper ? values[n + 2 * kOffset] : values[n];
        values[n] = kept + __shfl_xor_sync(~0u, given, kOffset);
    }
}
template <class Real>
__device__ inline void sum_over_lanes(Real (&values)[2 * kLanes], int lane) {
    halve<16>(values, lane);
    halve<8>(values, lane);
    halve<4>(values, lane);
    halve<2>(values, lane);
    halve<1>(values, lane);
}

/// Warps per CTA, each with its own task.
inline constexpr int kWarps = 4;
/// Values of q, and parts of the tasks, per CTA of the reduction.
inline constexpr int kReducedQ = 32, kParts = 16;
/// Tasks per part, as long as a profile has at most kMaxSlices CTAs.
inline constexpr int kPartTasks = 8, kMaxSlices = 32;

/// Data that all tasks share. Pointers are to device memory.
template <class Real>
struct Scattering {
    const Task* tasks;
    const std::int32_t* first_task;  ///< [pair of bodies, and one]
    const Pass<Real>* passes;
    const double* factors;         ///< [channel, type, q]
    const double* inverse_q;       ///< [q]; 0 for 0
    const std::int32_t* class_of;  ///< [channel]
    const std::uint8_t* scatters;  ///< [class, type]: whether the type scatters in the class
    std::int32_t bodies, pass_count, classes, has_unscaled_class, channels, types, q_count;
    std::int32_t starts_at_zero;  ///< q are evenly spaced, and the first is 0
};

/// Sets of positions and the jobs on them.
template <class Real>
struct Work {
    const PairJob* jobs;
    const float* xyz;     ///< [set, axis, sorted scatterer]
    const float* scales;  ///< [set, scale, sorted scatterer]
    Index scatterer_count;
    std::int32_t scale_count;
    std::int32_t first_task, task_count;  ///< of each job: the tasks of this launch
    Real* sums;                           ///< [job, weighting, pass, task, kTaskSums]
    double* partial;                      ///< [job, channel pair, q]
    std::int32_t add;                     ///< whether to add to `partial`
    std::int32_t slice_count;             ///< slices of the tasks of a job, one per CTA
    double* slices;                       ///< [job, channel pair, slice, q]
    unsigned* arrived;                    ///< [job, channel pair, block of q]; 0 between launches
};

/// The number of the pair of bodies a <= b, numbered as by channel_pair().
__device__ inline Index body_pair(Index a, Index b, Index bodies) {
    return a * bodies - a * (a - 1) / 2 + b - a;
}

struct JobTasks {
    std::int32_t first, count;
};
template <class Real>
__device__ inline JobTasks tasks_of(const Scattering<Real>& from, const Work<Real>& work,
                                    const PairJob& job) {
    const Index pair = body_pair(job.a, job.b, from.bodies);
    const std::int32_t first = from.first_task[pair] + work.first_task;
    const std::int32_t left = from.first_task[pair + 1] - first;
    return {first, left < work.task_count ? left : work.task_count};
}
template <class Real>
__device__ inline Real* task_sums(const Scattering<Real>& from, const Work<Real>& work, Index job,
                                  Index weighting, Index pass, Index task) {
    const Index weightings = Index{from.classes} * from.classes;
    return work.sums +
           (((job * weightings + weighting) * from.pass_count + pass) * work.task_count + task) *
               kTaskSums;
}
/// The scales of a class in a set; null: all 1.
template <class Real>
__device__ inline const float* scales_of(const Scattering<Real>& from, const Work<Real>& work,
                                         Index set, int of_class) {
    const int scale = of_class - from.has_unscaled_class;
    return scale < 0 ? nullptr
                     : work.scales + (set * work.scale_count + scale) * work.scatterer_count;
}

/// Whether sums weighted by the classes u of rows and v of columns are more than 0: atoms do not
/// scatter as water of the hydration layer, nor water as atoms.
template <class Real>
__device__ inline bool counts(const Scattering<Real>& from, const Task& of, int u, int v) {
    return from.scatters[u * from.types + of.row_type] != 0 &&
           from.scatters[v * from.types + of.column_type] != 0;
}

/// The result of one lane of a warp for a task: the sums of the values 2 lane and 2 lane + 1 of a
/// pass.
template <class Real>
struct TwoSums {
    Real first, second;
};
template <bool kEven, bool kScaled, class Real>
__device__ inline TwoSums<Real> sums_of_task(const Scattering<Real>& from,
                                             const Positions<Real>& positions, const Task& pairs,
                                             int pass, int lane, KeptScatterers<Real>& kept) {
    const Pass<Real> waves = from.passes[pass];
    Real values[2 * kLanes];
    if constexpr (!kEven)
        uneven_sums<kScaled>(pairs, positions, waves, kept, lane, values);
    else if (pass == 0 && from.starts_at_zero != 0)
        even_sums<kScaled, true>(pairs, positions, waves, kept, lane, values);
    else
        even_sums<kScaled, false>(pairs, positions, waves, kept, lane, values);
    sum_over_lanes(values, lane);
    return {values[0], values[1]};
}

/// Writes a task's sums for sum_part(), unless they are zero by type.
template <bool kEven, bool kScaled, class Real>
__device__ inline void sum_task(const Scattering<Real>& from, const Work<Real>& work, Index job,
                                Index task, int weighting, int pass, int lane,
                                KeptScatterers<Real>& kept) {
    const PairJob of = work.jobs[job];
    const JobTasks range = tasks_of(from, work, of);
    if (task >= range.count) return;  // all lanes alike
    const Task& pairs = from.tasks[range.first + task];
    if (!counts(from, pairs, weighting / from.classes, weighting % from.classes)) return;
    const Positions<Real> positions{work.xyz + of.set * 3 * work.scatterer_count,
                                    work.scatterer_count,
                                    scales_of(from, work, of.set, weighting / from.classes),
                                    scales_of(from, work, of.set, weighting % from.classes)};
    const TwoSums<Real> sums =
        sums_of_task<kEven, kScaled>(from, positions, pairs, pass, lane, kept);
    if (2 * lane >= kTaskSums) return;
    Real* const to = task_sums(from, work, job, weighting, pass, task) + 2 * lane;
    to[0] = sums.first;
    to[1] = sums.second;
}

template <class Real>
__device__ inline double factor_of(const Scattering<Real>& from, int channel, int type, int k) {
    return from.factors[(Index{channel} * from.types + type) * from.q_count + k];
}

/// Whether sums weighted by the classes u of rows and v of columns belong to the channels a and b.
template <class Real>
__device__ inline bool concerns(const Scattering<Real>& from, int u, int v, int a, int b) {
    const int of_a = from.class_of[a], of_b = from.class_of[b];
    return (of_a == u && of_b == v) || (of_a == v && of_b == u);
}

/// The factor of a task's sums at one q, weighted by the classes u and v, for the channels a <= b.
template <class Real>
__device__ inline double weight_of(const Scattering<Real>& from, const Task& of, int u, int v,
                                   int a, int b, int k) {
    double product = 0.0;
    if (from.class_of[a] == u && from.class_of[b] == v)
        product = factor_of(from, a, of.row_type, k) * factor_of(from, b, of.column_type, k);
    if (a != b && from.class_of[b] == u && from.class_of[a] == v)
        product += factor_of(from, b, of.row_type, k) * factor_of(from, a, of.column_type, k);
    return 2.0 * from.inverse_q[k] * product;
}

/// One of `parts` parts of the sum over a job's tasks for one channel pair and q, in both orders.
template <class Real>
__device__ inline double sum_part(const Scattering<Real>& from, const Work<Real>& work, Index job,
                                  int a, int b, int k, int part, int parts) {
    const JobTasks range = tasks_of(from, work, work.jobs[job]);
    const int pass = k / kPassSums, n = k % kPassSums;
    const int u = from.class_of[a], v = from.class_of[b], classes = from.classes;
    const Real* const one = task_sums(from, work, job, u * classes + v, pass, 0) + n;
    const Real* const other = task_sums(from, work, job, v * classes + u, pass, 0) + n;
    double sum = 0.0;
#pragma unroll 4
    for (Index task = part; task < range.count; task += parts) {
        const Task& of = from.tasks[range.first + task];
        // Sums whose factors are 0 may not have been written.
        const auto add = [&](int rows, int columns, const Real* values) {
            const double factor =
                factor_of(from, rows, of.row_type, k) * factor_of(from, columns, of.column_type, k);
            if (factor != 0.0) sum += factor * static_cast<double>(values[task * kTaskSums]);
        };
        add(a, b, one);
        if (a != b) add(b, a, other);
    }
    return 2.0 * sum * from.inverse_q[k];
}

/// The channels of a pair with this number.
__device__ inline void channels_of(int pair, int channels, int& a, int& b) {
    a = 0;
    while (pair >= channels - a) pair -= channels - a++;
    b = a + pair;
}

/// CTAs per multiprocessor: as many as leave each lane the registers that its sums need.
template <bool kEven, class Real>
constexpr int kResidentCtas = sizeof(Real) == 8 ? 2 : (kEven ? 5 : 4);

template <bool kEven, bool kScaled, class Real>
__global__ void __launch_bounds__(kWarps* kLanes, kResidentCtas<kEven, Real>)
    sum_tasks(Scattering<Real> from, Work<Real> work) {
    __shared__ KeptScatterers<Real> kept[kWarps];
    const Index job = blockIdx.y;
    const int warp = threadIdx.x / kLanes;
    const Index task = Index{blockIdx.x} * kWarps + warp;
    const int pass = blockIdx.z % from.pass_count, weighting = blockIdx.z / from.pass_count;
    sum_task<kEven, kScaled>(from, work, job, task, weighting, pass, threadIdx.x % kLanes,
                             kept[warp]);
}

/// Whether this is the last of `count` CTAs to arrive; it then sees what the others wrote before.
__device__ inline bool is_last(unsigned* arrived, unsigned count) {
    __shared__ bool last;
    __syncthreads();
    // One thread's fence serves its whole CTA, because of the barriers. More fences would make
    // other CTAs lose their L1 cache.
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(arrived, 1u) == count - 1;
        if (last) {
            *arrived = 0;
            __threadfence();
        }
    }
    __syncthreads();
    return last;
}

/// Each CTA adds a slice of a job's tasks; the last CTA adds all slices in their order.
template <class Real>
__global__ void __launch_bounds__(kReducedQ* kParts)
    reduce_tasks(Scattering<Real> from, Work<Real> work) {
    __shared__ double partial_sums[kParts][kReducedQ];
    const Index job = blockIdx.y;
    const int slices = work.slice_count, slice = blockIdx.x % slices, block = blockIdx.x / slices;
    const Index profile = job * gridDim.z + blockIdx.z;
    int a, b;
    channels_of(blockIdx.z, from.channels, a, b);
    const int lane = threadIdx.x % kReducedQ, part = threadIdx.x / kReducedQ;
    const int k = block * kReducedQ + lane;
    partial_sums[part][lane] = k < from.q_count ? sum_part(from, work, job, a, b, k,
                                                           slice * kParts + part, slices * kParts)
                                                : 0.0;
    __syncthreads();
    const bool adds = part == 0 && k < from.q_count;
    double sum = 0.0;
    if (adds)
        for (int n = 0; n < kParts; ++n) sum += partial_sums[n][lane];
    if (slices > 1) {
        double* const all = work.slices + profile * slices * from.q_count + k;
        if (adds) all[slice * from.q_count] = sum;
        const Index blocks = gridDim.x / slices;
        if (!is_last(work.arrived + profile * blocks + block, slices)) return;
        sum = 0.0;
        if (adds)
#pragma unroll 8
            for (int n = 0; n < slices; ++n) sum += __ldcg(all + n * from.q_count);
    }
    if (adds) {
        double* const to = work.partial + profile * from.q_count + k;
        *to = work.add != 0 ? *to + sum : sum;
    }
}

}  // namespace pleat::saxs::cuda
