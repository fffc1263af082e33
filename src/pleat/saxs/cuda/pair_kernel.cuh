// CUDA kernels of saxs: one warp per task, then the sums of a job's tasks times form factors.
#pragma once

#include "pleat/saxs/cuda/pair_steps.cuh"
#include "pleat/saxs/debye/body_pairs.h"

namespace pleat::saxs::cuda {

/// Warps per CTA, each with its own task.
inline constexpr int kWarps = 4;
/// Values of q, and parts of the tasks, of a CTA that reduces.
inline constexpr int kReducedQ = 32, kParts = 16;
/// Tasks per part, as long as there are at most kMaxSlices CTAs per profile.
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

/// Number of the pair of bodies a <= b, as channel_pair().
__device__ inline Index body_pair(Index a, Index b, Index bodies) {
    return a * bodies - a * (a - 1) / 2 + b - a;
}

/// Tasks of a job.
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

/// Writes a task's sums, for sum_part(), if they count.
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

}  // namespace pleat::saxs::cuda
