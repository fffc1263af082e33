// CUDA kernels of saxs for the moves of many chains, whose sums over pairs of bodies stay on the
// GPU.
#pragma once

#include "pleat/saxs/cuda/call_kernel.cuh"
#include "pleat/saxs/cuda/pair_launch.cuh"

namespace pleat::saxs::cuda {

/// A chain's part of a call: new positions, and where its sums are. All pointers but `host_xyz` and
/// `results` are to device memory.
struct ChainMove {
    const uint4* host_xyz;           ///< in host memory
    uint4* xyz;                      ///< [axis, sorted scatterer], floats
    const float* scales;             ///< [scale, sorted scatterer]
    const unsigned long long* from;  ///< profile [channel pair, q], units; null: none yet
    unsigned long long* to;          ///< profile with the new sums; may be `from`
    double* results;                 ///< [channel pair, q] in host memory
    double unit_scale;               ///< of units, as large scales leave fewer
    std::int32_t first_job, job_count;
};

/// A pair of bodies of a chain that moved.
struct ChainJob {
    std::int32_t move, pair;
    const unsigned long long*
        from;                ///< old sums [channel pair, q], units; null: not in the profile
    unsigned long long* to;  ///< new sums
};

/// The chunks of a CTA, one per warp.
struct ChainCta {
    std::int32_t job, first_chunk;
};

/// Chains of a call at most: their positions' addresses are arguments of a kernel.
inline constexpr int kMaxMoves = 64;

/// Copies from the host's memory: a call's table, and the positions of each chain.
struct ChainCopies {
    const uint4* from[kMaxMoves + 1];
    uint4* to[kMaxMoves + 1];
    std::int32_t pieces, table_pieces;  ///< of positions; of the table, which is the last
};

/// The arrays of a call, in addition to those of Scattering.
struct ChainCall {
    const std::int32_t* first_task;    ///< [chunk, and one]
    const std::int32_t* first_chunk;   ///< [pair of bodies, and one]
    const unsigned* channels_of_type;  ///< [type]: bits of the channels in which it scatters
    const ChainMove* moves;
    const ChainJob* jobs;
    const ChainCta* ctas;
    const double* units;       ///< [channel pair, q]: units per electron^2, powers of two
    unsigned long long* sums;  ///< [job, channel pair, q]: units; 0 between calls
    Index scatterer_count;
    unsigned* summed;  ///< [1] in host memory: the number of the last call that was summed
    unsigned number;
};

/// Threads of the CTAs that copy and finish.
inline constexpr int kChainThreads = 256;

static __global__ void __launch_bounds__(kChainThreads) copy_chains(const ChainCopies copies) {
    const int pieces = blockIdx.y + 1 == gridDim.y ? copies.table_pieces : copies.pieces;
    const int piece = static_cast<int>(blockIdx.x * kChainThreads + threadIdx.x);
    if (piece < pieces) copies.to[blockIdx.y][piece] = copies.from[blockIdx.y][piece];
}

/// Bytes of shared memory of a CTA that sums: scatterers and sums of each warp.
inline Index chain_shared_bytes(Index channel_pairs) {
    return kWarps *
           (static_cast<Index>(sizeof(KeptScatterers<float>)) + 8 * channel_pairs * kTaskSums);
}

/// Adds the tasks [next, last) to a warp's `sums` [channel pair, kTaskSums].
template <bool kEven, bool kScaled>
__device__ inline void sum_chunk(const Scattering<float>& from, const ChainCall& call,
                                 const Positions<float>& positions, int next, int last, int u,
                                 int v, int pass, KeptScatterers<float>& kept, double* sums) {
    const int lane = threadIdx.x % kLanes;
    for (; next < last; ++next) {
        const Task task = from.tasks[next];
        const TwoSums<float> added =
            sums_of_task<kEven, kScaled>(from, positions, task, pass, lane, kept);
        const unsigned rows = call.channels_of_type[task.row_type],
                       columns = call.channels_of_type[task.column_type];
        const CtaWork work{0, u * from.classes + v, pass};
        int pair = 0;
        for (int a = 0; a < from.channels && 2 * lane < kTaskSums; ++a) {
            for (int b = a; b < from.channels; ++b, ++pair) {
                const bool scatter = ((rows >> a & columns >> b) | (rows >> b & columns >> a)) & 1;
                if (!scatter || !concerns(from, u, v, a, b)) continue;
                const TwoWeights weights = weights_of(from, task, work, a, b, lane);
                double* const to = sums + pair * kTaskSums + 2 * lane;
                to[0] += weights.first * static_cast<double>(added.first);
                to[1] += weights.second * static_cast<double>(added.second);
            }
        }
        __syncwarp();  // wait until no lane reads the stored scatterers
    }
}

/// Each warp sums the tasks of a chunk; the CTA adds its sums to those of its job as integers, so
/// they do not depend on the order of CTAs.
template <bool kEven, bool kScaled>
__global__ void __launch_bounds__(kWarps* kLanes, kResidentCtas<kEven, float>)
    sum_chains(Scattering<float> from, ChainCall call) {
    PLEAT_DYNAMIC_SHARED(KeptScatterers<float>, kept);
    auto* const sums = reinterpret_cast<double*>(kept + kWarps);
    const int pairs = from.channels * (from.channels + 1) / 2, of_warp = pairs * kTaskSums;
    const int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const int pass = blockIdx.y % from.pass_count, weighting = blockIdx.y / from.pass_count;
    const int u = weighting / from.classes, v = weighting % from.classes;
    for (int n = lane; n < of_warp; n += kLanes) sums[warp * of_warp + n] = 0.0;
    const ChainCta cta = call.ctas[blockIdx.x];
    const ChainJob job = call.jobs[cta.job];
    const ChainMove& move = call.moves[job.move];
    const int chunk = cta.first_chunk + warp;
    __syncwarp();
    if (chunk < call.first_chunk[job.pair + 1]) {
        const auto scales = [&](int of_class) -> const float* {
            const int scale = of_class - from.has_unscaled_class;
            return scale < 0 ? nullptr : move.scales + scale * call.scatterer_count;
        };
        const Positions<float> positions{reinterpret_cast<const float*>(move.xyz),
                                         call.scatterer_count, scales(u), scales(v)};
        sum_chunk<kEven, kScaled>(from, call, positions, call.first_task[chunk],
                                  call.first_task[chunk + 1], u, v, pass, kept[warp],
                                  sums + warp * of_warp);
    }
    __syncthreads();
    for (int n = threadIdx.x; n < of_warp; n += kWarps * kLanes) {
        const int k = pass * kPassSums + n % kTaskSums;
        if (n % kTaskSums >= kPassSums || k >= from.q_count) continue;
        double sum = 0.0;
        for (int w = 0; w < kWarps; ++w) sum += sums[w * of_warp + n];
        if (sum == 0.0) continue;
        const Index of_pair = Index{n / kTaskSums} * from.q_count + k;
        const long long units = __double2ll_rn(sum * call.units[of_pair] * move.unit_scale);
        atomicAdd(call.sums + Index{cta.job} * pairs * from.q_count + of_pair,
                  static_cast<unsigned long long>(units));
    }
}

/// A value of a chain's profile for each thread: keeps the new sums of the pairs, and writes the
/// profile that they change into the host's memory.
static __global__ void __launch_bounds__(kChainThreads)
    finish_chains(Scattering<float> from, ChainCall call) {
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) *call.summed = call.number;
    const ChainMove move = call.moves[blockIdx.x];
    const Index size = Index{from.channels} * (from.channels + 1) / 2 * from.q_count;
    const Index k = Index{blockIdx.y} * kChainThreads + threadIdx.x;
    if (k >= size) return;
    unsigned long long sum = move.from != nullptr ? move.from[k] : 0;
#pragma unroll 4
    for (int n = move.first_job; n < move.first_job + move.job_count; ++n) {
        const ChainJob job = call.jobs[n];
        unsigned long long* const added = call.sums + n * size + k;
        const unsigned long long now = *added;
        *added = 0;
        job.to[k] = now;
        sum += job.from != nullptr ? now - job.from[k] : now;
    }
    move.to[k] = sum;
    __threadfence();  // the next call of this chain may be in another stream
    move.results[k] =
        static_cast<double>(static_cast<long long>(sum)) / (call.units[k] * move.unit_scale);
}

}  // namespace pleat::saxs::cuda
