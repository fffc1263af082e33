// Small calls of saxs: one kernel copies its input from the host, sums over pairs, and writes the
// results to the host.
#pragma once

#include "pleat/saxs/cuda/call_table.h"
#include "pleat/saxs/cuda/pair_launch.cuh"

namespace pleat::saxs::cuda {

/// Threads of a CTA.
inline constexpr int kCallThreads = kCallWarps * kLanes;

/// Marks a result that has not been written yet: a NaN that no sum produces.
inline constexpr std::uint64_t kAwaited = 0x7ff8000000a3a17eu;

/// Bits of a sum that count the CTAs that have added to it.
inline constexpr int kCountBits = 12;

/// The arrays of a small call, in addition to those of Scattering.
struct Call {
    const Task* tasks;               ///< of a CallTable
    const std::int32_t* first_warp;  ///< [pair of bodies, and one]
    const std::int32_t* first_task;  ///< [warp, and one]
    const uint4* host_input;         ///< [pieces]: jobs, positions and scales in host memory
    uint4* device_input;             ///< the same in device memory
    Index pieces;
    unsigned*
        copying_ctas;  ///< [2]: CTAs that have copied their part; CTAs that have seen all copied
    const double*
        unit_scale;  ///< [1]: of `units`, as large scales leave fewer; these four in `taken`
    const PairJob* jobs;
    const float* xyz;     ///< [set, axis, sorted scatterer]
    const float* scales;  ///< [set, scale, sorted scatterer]
    Index scatterer_count;
    std::int32_t scale_count;
    PairJob job;                ///< the job, if there is only one
    std::int32_t copies_input;  ///< whether the kernel that sums copies the input
    const double* units;        ///< [channel pair, q]: units per electron^2, powers of two
    unsigned long long* sums;   ///< [job, channel pair, q]: units and kCountBits; 0 between calls
    double* results;            ///< [job, channel pair, q] in host memory
};

/// Copies the part of a CTA of the host's input, one piece per thread. Few CTAs copy much each,
/// since host memory has a long latency.
__device__ inline void copy_input(const Call& call, Index cta) {
    const Index piece = cta * kCallThreads + threadIdx.x;
    if (piece < call.pieces) call.device_input[piece] = call.host_input[piece];
}

/// Copies a CTA's part of the input, and counts the CTAs that have done so.
__device__ inline void copy_input_and_count(const Call& call, Index cta) {
    if (cta * kCallThreads >= call.pieces) return;
    copy_input(call, cta);
    __syncthreads();
    if (threadIdx.x > 0) return;
    __threadfence();
    atomicAdd(call.copying_ctas, 1u);
}

/// Waits until all CTAs, which must be resident on the GPU at once, have copied their parts. The
/// last CTA to see this clears the counts for the next call.
__device__ inline void await_input(const Call& call, unsigned ctas) {
    if (threadIdx.x == 0) {
        const auto copying_ctas =
            static_cast<unsigned>((call.pieces + kCallThreads - 1) / kCallThreads);
        const volatile unsigned* const copied = call.copying_ctas;
        while (*copied < copying_ctas) {
        }
        __threadfence();
        if (atomicAdd(call.copying_ctas + 1, 1u) == ctas - 1)
            call.copying_ctas[0] = call.copying_ctas[1] = 0;
    }
    __syncthreads();
}

/// Bytes of shared memory of a CTA: scatterers and sums [channel pair, kTaskSums] of each warp.
inline Index shared_bytes(Index channel_pairs) {
    return kCallWarps *
           (static_cast<Index>(sizeof(KeptScatterers<float>)) + 8 * channel_pairs * kTaskSums);
}

/// The work of a CTA: a weighting and a pass of a job.
struct CtaWork {
    Index job;
    int weighting, pass;
};

/// The factors of a task's sums at the two q of a lane, for one channel pair.
struct TwoWeights {
    double first, second;
};
__device__ inline TwoWeights weights_of(const Scattering<float>& from, const Task& of,
                                        const CtaWork& work, int a, int b, int lane) {
    const int k = work.pass * kPassSums + 2 * lane, n = 2 * lane;
    const auto weight = [&](int more) {
        return n + more < kPassSums && k + more < from.q_count
                   ? weight_of(from, of, work.weighting / from.classes,
                               work.weighting % from.classes, a, b, k + more)
                   : 0.0;
    };
    return {weight(0), weight(1)};
}

/// The tasks of a warp, and the factors of its first task for the first channel pair.
struct WarpTasks {
    Index next, last;
    Task first;
    TwoWeights weights;
};
__device__ inline WarpTasks tasks_of(const Scattering<float>& from, const Call& call,
                                     const PairJob& of, const CtaWork& work, int warp_of_cta,
                                     int lane) {
    const std::int32_t* const warps = call.first_warp + body_pair(of.a, of.b, from.bodies);
    const Index warp = warps[0] + Index{blockIdx.x} * kCallWarps + warp_of_cta;
    WarpTasks result{};
    if (warp >= warps[1]) return result;
    result.next = call.first_task[warp];
    result.last = call.first_task[warp + 1];
    result.first = call.tasks[result.next];
    result.weights = weights_of(from, result.first, work, 0, 0, lane);
    return result;
}

/// Adds tasks to a warp's `sums` [channel pair, kTaskSums].
template <bool kEven, bool kScaled>
__device__ void sum_warp(const Scattering<float>& from, const Call& call, const PairJob& of,
                         const CtaWork& work, WarpTasks tasks, KeptScatterers<float>& kept,
                         double* sums) {
    const int lane = threadIdx.x % kLanes;
    const int u = work.weighting / from.classes, v = work.weighting % from.classes;
    const auto scales = [&](int of_class) -> const float* {
        const int scale = of_class - from.has_unscaled_class;
        return scale < 0 ? nullptr
                         : call.scales + (of.set * call.scale_count + scale) * call.scatterer_count;
    };
    const Positions<float> positions{call.xyz + of.set * 3 * call.scatterer_count,
                                     call.scatterer_count, scales(u), scales(v)};
    const auto add = [&](const Task& task) {
        const TwoSums<float> added =
            sums_of_task<kEven, kScaled>(from, positions, task, work.pass, lane, kept);
        int pair = 0;
        for (int a = 0; a < from.channels && 2 * lane < kTaskSums; ++a) {
            for (int b = a; b < from.channels; ++b, ++pair) {
                if (!concerns(from, u, v, a, b)) continue;
                const TwoWeights weights =
                    pair == 0 ? tasks.weights : weights_of(from, task, work, a, b, lane);
                double* const to = sums + pair * kTaskSums + 2 * lane;
                to[0] += weights.first * static_cast<double>(added.first);
                to[1] += weights.second * static_cast<double>(added.second);
            }
        }
    };
    while (tasks.next < tasks.last) {
        if (counts(from, tasks.first, u, v)) add(tasks.first);
        if (++tasks.next == tasks.last) break;
        __syncwarp();  // wait until no lane reads the stored scatterers
        tasks.first = call.tasks[tasks.next];
        tasks.weights = weights_of(from, tasks.first, work, 0, 0, lane);
    }
}

/// Adds a CTA's sum of one channel pair and q, and counts it; the last CTA writes the result. The
/// sum is an integer, so it does not depend on the order.
__device__ inline void add_and_write(const Call& call, Index position, double sum, double units,
                                     unsigned ctas) {
    const auto counted =
        static_cast<unsigned long long>(__double2ll_rn(sum * units)) << kCountBits | 1u;
    const unsigned long long all = atomicAdd(call.sums + position, counted) + counted;
    if ((all & ((1u << kCountBits) - 1)) != ctas) return;
    call.sums[position] = 0;
    call.results[position] = static_cast<double>(static_cast<long long>(all) >> kCountBits) / units;
}

/// Computes a small call.
template <bool kEven, bool kScaled>
__global__ void __launch_bounds__(kCallThreads, 1) answer_call(Scattering<float> from, Call call) {
    PLEAT_DYNAMIC_SHARED(KeptScatterers<float>, kept);
    auto* const sums = reinterpret_cast<double*>(kept + kCallWarps);
    const int pairs = from.channels * (from.channels + 1) / 2, of_warp = pairs * kTaskSums;
    const int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const CtaWork work{blockIdx.y, static_cast<int>(blockIdx.z / from.pass_count),
                       static_cast<int>(blockIdx.z % from.pass_count)};
    for (int n = lane; n < of_warp; n += kLanes) sums[warp * of_warp + n] = 0.0;
    if (call.copies_input != 0)
        copy_input_and_count(call,
                             blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * Index{blockIdx.z}));
    PairJob of = call.job;
    // Tasks and factors of a single job are read while positions are being copied.
    WarpTasks tasks{};
    if (gridDim.y == 1) tasks = tasks_of(from, call, of, work, warp, lane);
    if (call.copies_input != 0) await_input(call, gridDim.x * gridDim.y * gridDim.z);
    if (gridDim.y > 1) {
        of = call.jobs[work.job];
        tasks = tasks_of(from, call, of, work, warp, lane);
    }
    __syncwarp();
    sum_warp<kEven, kScaled>(from, call, of, work, tasks, kept[warp], sums + warp * of_warp);
    __syncthreads();
    for (int n = threadIdx.x; n < of_warp; n += kCallThreads) {
        const int k = work.pass * kPassSums + n % kTaskSums, pair = n / kTaskSums;
        int a, b;
        channels_of(pair, from.channels, a, b);
        const int u = work.weighting / from.classes, v = work.weighting % from.classes;
        if (n % kTaskSums >= kPassSums || k >= from.q_count || !concerns(from, u, v, a, b))
            continue;
        double sum = 0.0;
        for (int w = 0; w < kCallWarps; ++w) sum += sums[w * of_warp + n];
        const Index of_pair = Index{pair} * from.q_count + k;
        add_and_write(call, work.job * pairs * from.q_count + of_pair, sum,
                      call.units[of_pair] * *call.unit_scale, gridDim.x * (u == v ? 1 : 2));
    }
}

/// Copies the input of a call whose CTAs cannot all be resident on the GPU at once.
static __global__ void __launch_bounds__(kCallThreads) copy_all_input(Call call) {
    copy_input(call, blockIdx.x);
}

}  // namespace pleat::saxs::cuda
