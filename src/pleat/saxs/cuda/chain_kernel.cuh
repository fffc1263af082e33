// CUDA kernels of saxs for the moves of many chains, whose sums over pairs of bodies stay on the
// GPU.
#pragma once

#include "pleat/saxs/cuda/call_kernel.cuh"
#include "pleat/saxs/cuda/chain_table.h"
#include "pleat/saxs/cuda/pair_launch.cuh"

namespace pleat::saxs::cuda {

/// A move of a chain: new positions, and where its sums are. All pointers but `results` are to
/// device memory.
struct ChainMove {
    const uint4* xyz;                ///< [axis, sorted scatterer], floats
    const float* scales;             ///< [scale, sorted scatterer]
    const unsigned long long* from;  ///< profile [channel pair, q], units; null: none yet
    unsigned long long* to;          ///< profile with the new sums; may be `from`
    double* results;                 ///< [channel pair, q] in host memory
    double unit_scale;               ///< of units, as large scales leave fewer
    std::int32_t job_count;
};

/// A pair of bodies of a chain that moved. A negative pair: none, of a move that changes no sum.
struct ChainJob {
    std::int32_t move, pair;
    std::int32_t ctas;
    const unsigned long long*
        from;                ///< old sums [channel pair, q], units; null: not in the profile
    unsigned long long* to;  ///< new sums
};

/// The tasks of a CTA, which its warps share. Each job has one CTA at least.
struct alignas(16) ChainCta {
    std::int32_t job, move, first_task, last_task;
};

/// The arrays that all requests have in common, in addition to those of Scattering.
struct ChainArrays {
    const ChainTask* tasks;
    const std::int32_t* type_of;      ///< [sorted scatterer]
    const std::int32_t* segment_end;  ///< [sorted scatterer]: one past those of its type
    const float4* factors;            ///< [pass, channel, type, kTaskSums / 4], and kLanes
    const double* units;              ///< [channel pair, q]: units per electron^2, powers of two
    Index scatterer_count;
};

/// The shared memory of a warp that sums.
struct ChainWarp {
    float4 totals[kLanes][kTaskSums / 4];  ///< [row]: sums over columns, times their factors
    Point<float> columns[kChainColumns];
    std::int32_t row_types[kLanes];  ///< types times kTaskSums
};

/// Columns that make no pair with a row: none, or `count` from `first` on.
struct NoneExcluded {
    __device__ inline bool has(int) const { return false; }
};
struct Excluded {
    int first;
    unsigned count;

    __device__ inline bool has(int column) const {
        return static_cast<unsigned>(column - first) < count;
    }
};

/// Calls body(r, weight) for a row and the columns [first, last).
template <class Exclusion, class Body>
__device__ inline void for_columns(const Point<float>& row, const Point<float>* columns, int first,
                                   int last, const Exclusion& excluded, const Body& body) {
#pragma unroll 1
    for (int n = first; n < last; ++n) {
        const Point<float> column = columns[n];
        float weight;
        const float r = pair_distance(row, column, weight);
        weight *= row.scale * column.scale;
        body(r, excluded.has(n) ? 0.0f : weight);
    }
}

/// Sums of a row over the columns [first, last), [kPassSums] in the order of q.
template <bool kEven, bool kFromZero, class Exclusion>
__device__ inline void sum_columns(const Pass<float>& pass, const Point<float>& row,
                                   const Point<float>* columns, int first, int last,
                                   const Exclusion& excluded, float (&values)[kTaskSums]) {
    if constexpr (kEven) {
        LaneSums<float> sums = {};
        for_columns(row, columns, first, last, excluded,
                    [&](float r, float weight) { add_pair<kFromZero>(sums, pass, r, weight); });
        put_in_order(sums, values);
    } else {
#pragma unroll
        for (int n = 0; n < kPassSums; ++n) values[n] = 0;
        for_columns(row, columns, first, last, excluded, [&](float r, float weight) {
#pragma unroll
            for (int n = 0; n < kPassSums; ++n)
                values[n] = fmaf(sine_of(r, pass.turns[n]), weight, values[n]);
        });
    }
#pragma unroll
    for (int n = kPassSums; n < kTaskSums; ++n) values[n] = 0;
}

/// The factors of a channel in a pass, [type, kTaskSums / 4].
__device__ inline const float4* factors_of(const Scattering<float>& from, const ChainArrays& arrays,
                                           int pass, int channel) {
    return arrays.factors + (Index{pass} * from.channels + channel) * from.types * (kTaskSums / 4);
}

/// Each lane adds its row's sums over all columns, times their factors, to its totals.
template <bool kEven, bool kFromZero, class Exclusion>
__device__ inline void sum_rows(const Scattering<float>& from, const ChainArrays& arrays,
                                const ChainTask& task, const Point<float>& row,
                                const Exclusion& excluded, int pass, float4* totals,
                                const Point<float>* columns) {
    const Pass<float> waves = from.passes[pass];
    const float4* const factors = factors_of(from, arrays, pass, task.column_channel);
#pragma unroll
    for (int n = 0; n < kTaskSums / 4; ++n) totals[n] = {0, 0, 0, 0};
    for (int first = 0, last; first < task.columns; first = last) {
        const std::int32_t end = arrays.segment_end[task.column + first] - task.column;
        last = end < task.columns ? end : task.columns;
        const float4* const of_type =
            factors + arrays.type_of[task.column + first] * (kTaskSums / 4);
        float values[kTaskSums];
        sum_columns<kEven, kFromZero>(waves, row, columns, first, last, excluded, values);
#pragma unroll
        for (int n = 0; n < kTaskSums / 4; ++n) {
            const float4 factor = of_type[n];
            float4 total = totals[n];
            total.x = fmaf(factor.x, values[4 * n], total.x);
            total.y = fmaf(factor.y, values[4 * n + 1], total.y);
            total.z = fmaf(factor.z, values[4 * n + 2], total.z);
            total.w = fmaf(factor.w, values[4 * n + 3], total.w);
            totals[n] = total;
        }
    }
}
template <bool kEven, class Exclusion>
__device__ inline void sum_rows_of_pass(const Scattering<float>& from, const ChainArrays& arrays,
                                        const ChainTask& task, const Point<float>& row,
                                        const Exclusion& excluded, int pass, float4* totals,
                                        const Point<float>* columns) {
    if (pass == 0 && from.starts_at_zero != 0)
        sum_rows<kEven, kEven>(from, arrays, task, row, excluded, pass, totals, columns);
    else
        sum_rows<kEven, false>(from, arrays, task, row, excluded, pass, totals, columns);
}

/// Adds up a task's totals times the factors of their rows, two q for each lane, or one and what
/// follows the row. Adds that to the sums of a job as integers, so they do not depend on the order
/// of warps.
__device__ inline void add_task(const Scattering<float>& from, const ChainArrays& arrays,
                                const ChainTask& task, double unit_scale,
                                unsigned long long* job_sums, int pass, int lane,
                                const ChainWarp& warp) {
    const auto* const factors =
        reinterpret_cast<const float*>(factors_of(from, arrays, pass, task.row_channel)) + lane;
    const auto* total = reinterpret_cast<const float*>(warp.totals) + lane;
    float sums[2] = {0, 0};
#pragma unroll 4
    for (int r = 0; r < task.rows; ++r, total += kTaskSums) {
        const float* const factor = factors + warp.row_types[r];
        sums[0] = fmaf(factor[0], total[0], sums[0]);
        sums[1] = fmaf(factor[kLanes], total[kLanes], sums[1]);
    }
    const int a = task.row_channel < task.column_channel ? task.row_channel : task.column_channel,
              b = task.row_channel + task.column_channel - a;
    for (int m = 0; m < 2; ++m) {
        const int n = lane + m * kLanes, k = pass * kPassSums + n;
        if (n >= kPassSums || k >= from.q_count) break;
        const Index at = body_pair(a, b, from.channels) * from.q_count + k;
        const double value = 2.0 * from.inverse_q[k] * static_cast<double>(sums[m]);
        atomicAdd(job_sums + at, static_cast<unsigned long long>(
                                     __double2ll_rn(value * arrays.units[at] * unit_scale)));
    }
}

/// Sums a task of a job: each lane the columns of its row, then all rows.
template <bool kEven>
__device__ inline void sum_chain_task(const Scattering<float>& from, const ChainArrays& arrays,
                                      const ChainMove& move, const ChainTask& task,
                                      unsigned long long* job_sums, int pass, int lane,
                                      ChainWarp& warp) {
    const auto scales_of_channel = [&](int channel) -> const float* {
        const int scale = from.class_of[channel] - from.has_unscaled_class;
        return scale < 0 ? nullptr : move.scales + scale * arrays.scatterer_count;
    };
    const Positions<float> positions{reinterpret_cast<const float*>(move.xyz),
                                     arrays.scatterer_count, scales_of_channel(task.row_channel),
                                     scales_of_channel(task.column_channel)};
    for (int n = lane; n < task.columns; n += kLanes) {
        Point<float> column = positions.point(task.column + n);
        column.scale = positions.of_column(task.column + n);
        warp.columns[n] = column;
    }
    Point<float> row{0, 0, 0, 0};
    if (lane < task.rows) {
        row = positions.point(task.row + lane);
        row.scale = positions.of_row(task.row + lane);
        warp.row_types[lane] = arrays.type_of[task.row + lane] * kTaskSums;
    }
    __syncwarp();
    if (task.overlaps == 0) {
        sum_rows_of_pass<kEven>(from, arrays, task, row, NoneExcluded{}, pass, warp.totals[lane],
                                warp.columns);
    } else {
        const int self = task.row + lane - task.column;
        Excluded excluded{self, 1};
        if (task.row_channel == task.column_channel)
            excluded = {0, self >= 0 ? static_cast<unsigned>(self) + 1 : 0};
        sum_rows_of_pass<kEven>(from, arrays, task, row, excluded, pass, warp.totals[lane],
                                warp.columns);
    }
    __syncwarp();
    add_task(from, arrays, task, move.unit_scale, job_sums, pass, lane, warp);
    __syncwarp();  // the warp's memory may be used again
}

/// Keeps the new sums of a job, and adds what they change to its move's `changes`. What other CTAs
/// wrote is in the L2 cache.
__device__ inline void finish_job(const ChainJob& job, unsigned long long* sums,
                                  unsigned long long* changes, Index size) {
    if (job.pair < 0) return;
    for (Index k = threadIdx.x; k < size; k += kWarps * kLanes) {
        const unsigned long long now = __ldcg(sums + k),
                                 before = job.from != nullptr ? __ldcg(job.from + k) : 0;
        sums[k] = 0;
        job.to[k] = now;
        atomicAdd(changes + k, now - before);
    }
}

/// Keeps the new profile of a move, and writes it into the host's memory.
__device__ inline void finish_move(const ChainArrays& arrays, const ChainMove& move,
                                   unsigned long long* changes, Index size) {
    for (Index k = threadIdx.x; k < size; k += kWarps * kLanes) {
        const unsigned long long sum =
            (move.from != nullptr ? __ldcg(move.from + k) : 0) + __ldcg(changes + k);
        changes[k] = 0;
        move.to[k] = sum;
    }
    __threadfence();  // the chain's next request may come at once
    for (Index k = threadIdx.x; k < size; k += kWarps * kLanes)
        move.results[k] = static_cast<double>(static_cast<long long>(move.to[k])) /
                          (arrays.units[k] * move.unit_scale);
}

}  // namespace pleat::saxs::cuda
