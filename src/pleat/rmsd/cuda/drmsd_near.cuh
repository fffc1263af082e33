// dRMSD of near pairs: values that a product leaves, from the differences of distances themselves.
#pragma once

#include "pleat/rmsd/cuda/drmsd_kernel.cuh"

namespace pleat::rmsd::cuda {

/// Frames of a side of a tile, of which a thread has kNearOfThread by as many pairs; distances in
/// shared memory at a time; and from how many values on a tile is computed as a whole, since that
/// takes as long as so many pairs one by one.
constexpr int kNearTile = 64, kNearOfThread = 4, kNearChunk = 32, kManyLeft = 256;
constexpr int kNearTileThreads = kNearTile / kNearOfThread;
static_assert(kNearTileThreads * kNearTileThreads == kDrmsdThreads);
/// Between the same frame's distances, so that stores meet in few banks.
constexpr int kNearStride = kNearTile + 4;

struct NearTask {
    DistanceFrames rows, columns;
    DistanceList list;
    double weight;  ///< of all pairs of atoms
    float limit;    ///< angstrom: values below it are computed in float64
    bool in_float64;
    Block row_block, column_block;
    float* values;  ///< [row, column]

    /// The same for any way to compute it, and without a value for pairs below the limit.
    __device__ __forceinline__ float value(double sum) const {
        const float root = weight > 0 ? static_cast<float>(sqrt(sum / weight)) : 0.0f;
        return root >= limit ? root : kNearlyEqual;
    }
};

/// As the CPU rounds it.
__device__ __forceinline__ float rounded_distance(const DistanceFrames& frames, Index frame,
                                                  ListedPair pair) {
    return static_cast<float>(frames.root(pair) * frames.distance(frame, pair));
}

struct alignas(16) FourOfFrames {
    float of[4];
};
using NearDistances = float[kNearChunk][kNearStride];

/// The distances from `first` on in the frames of a side from `frame` on; others are 0.
__device__ __forceinline__ void measure_tile(const DistanceFrames& frames, const DistanceList& list,
                                             Index frame, Index end, Index first,
                                             NearDistances& to) {
    for (int at = threadIdx.x; at < kNearChunk * kNearTile; at += kDrmsdThreads) {
        const int n = at % kNearChunk, of = at / kNearChunk;
        const bool exists = first + n < list.count && frame + of < end;
        to[n][of] = exists ? rounded_distance(frames, frame + of, list.pairs[first + n]) : 0.0f;
    }
}

/// All pairs of a tile; writes those that are left.
__device__ __forceinline__ void compute_tile(const NearTask& task, Index row, Index column,
                                             NearDistances& rows, NearDistances& columns) {
    const int own_row = threadIdx.x / kNearTileThreads * kNearOfThread,
              own_column = threadIdx.x % kNearTileThreads * kNearOfThread;
    const Index row_end = task.row_block.first + task.row_block.count,
                column_end = task.column_block.first + task.column_block.count;
    double sums[kNearOfThread][kNearOfThread] = {};
    for (Index first = 0; first < task.list.count; first += kNearChunk) {
        __syncthreads();  // none reads the distances before
        measure_tile(task.rows, task.list, row, row_end, first, rows);
        measure_tile(task.columns, task.list, column, column_end, first, columns);
        __syncthreads();
        float some[kNearOfThread][kNearOfThread] = {};
#pragma unroll 8
        for (int n = 0; n < kNearChunk; ++n) {
            const auto p = *reinterpret_cast<const FourOfFrames*>(&rows[n][own_row]);
            const auto q = *reinterpret_cast<const FourOfFrames*>(&columns[n][own_column]);
#pragma unroll
            for (int a = 0; a < kNearOfThread; ++a)
#pragma unroll
                for (int b = 0; b < kNearOfThread; ++b) {
                    const float difference = p.of[a] - q.of[b];
                    some[a][b] = fmaf(difference, difference, some[a][b]);
                }
        }
#pragma unroll
        for (int a = 0; a < kNearOfThread; ++a)
#pragma unroll
            for (int b = 0; b < kNearOfThread; ++b) sums[a][b] += some[a][b];
    }
#pragma unroll
    for (int a = 0; a < kNearOfThread; ++a)
#pragma unroll
        for (int b = 0; b < kNearOfThread; ++b) {
            const Index i = row + own_row + a, j = column + own_column + b;
            if (i >= row_end || j >= column_end) continue;
            float& value = task.values[(i - task.row_block.first) * task.column_block.count + j -
                                       task.column_block.first];
            if (value < 0.0f) value = task.value(sums[a][b]);
        }
}

/// One pair by a warp, with the sums of compute_tile(): a lane has a chunk of distances, and chunks
/// are added in their order.
__device__ __forceinline__ float pair_by_chunks(const NearTask& task, Index i, Index j) {
    const int lane = threadIdx.x % 32;
    double sum = 0.0;
    for (Index first = 0; first < task.list.count; first += 32 * kNearChunk) {
        float own = 0.0f;
        for (int n = 0; n < kNearChunk; ++n) {
            const Index at = first + lane * kNearChunk + n;
            if (at >= task.list.count) break;
            const ListedPair pair = task.list.pairs[at];
            const float difference =
                rounded_distance(task.rows, i, pair) - rounded_distance(task.columns, j, pair);
            own = fmaf(difference, difference, own);
        }
        for (int of = 0; of < 32; ++of) sum += __shfl_sync(~0u, own, of);
    }
    return task.value(sum);
}

/// One pair by a warp in float64.
__device__ __forceinline__ float pair_in_float64(const NearTask& task, Index i, Index j) {
    double sum = 0.0;
    for (Index n = threadIdx.x % 32; n < task.list.count; n += 32) {
        const ListedPair pair = task.list.pairs[n];
        const double difference =
            task.rows.root(pair) * (task.rows.distance(i, pair) - task.columns.distance(j, pair));
        sum += difference * difference;
    }
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
    return task.weight > 0 ? static_cast<float>(sqrt(sum / task.weight)) : 0.0f;
}

/// One CTA per tile of the block: computes what is left of it, or with in_float64 all.
static __global__ void __launch_bounds__(kDrmsdThreads)
    compute_near_pairs(const __grid_constant__ NearTask task) {
    __shared__ __align__(16) NearDistances rows, columns;
    __shared__ unsigned left_of_tile;
    const Index down = task.row_block.count, across = task.column_block.count;
    const Index row_tiles = (down + kNearTile - 1) / kNearTile;
    const Index row = blockIdx.x % row_tiles * kNearTile,
                column = blockIdx.x / row_tiles * kNearTile;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    constexpr int kWarps = kDrmsdThreads / 32;
    const auto is_left = [&](Index down_at, Index across_at) {
        return down_at < down && across_at < across &&
               (task.in_float64 || task.values[down_at * across + across_at] < 0.0f);
    };
    if (threadIdx.x == 0) left_of_tile = 0;
    __syncthreads();
    unsigned found = 0;
    for (int of = warp; of < kNearTile; of += kWarps)
        for (int side = 0; side < kNearTile; side += 32)
            found += is_left(row + of, column + side + lane);
    found = __reduce_add_sync(~0u, found);
    if (lane == 0 && found != 0) atomicAdd(&left_of_tile, found);
    __syncthreads();
    if (left_of_tile == 0) return;
    if (left_of_tile >= kManyLeft && !task.in_float64)
        compute_tile(task, task.row_block.first + row, task.column_block.first + column, rows,
                     columns);
    __syncthreads();
    for (int of = warp; of < kNearTile; of += kWarps)
        for (int side = 0; side < kNearTile; side += 32) {
            const Index own = column + side + lane;
            const unsigned left = __ballot_sync(~0u, is_left(row + of, own));
            for (int bit = 0; bit < 32; ++bit) {
                if ((left >> bit & 1) == 0) continue;
                float* const value = task.values + (row + of) * across + column + side + bit;
                const Index i = task.row_block.first + row + of,
                            j = task.column_block.first + column + side + bit;
                float known = task.in_float64 ? kNearlyEqual : *value;
                if (known == kLeft) known = pair_by_chunks(task, i, j);
                if (known == kNearlyEqual) known = pair_in_float64(task, i, j);
                if (lane == 0) *value = known;
            }
        }
}

}  // namespace pleat::rmsd::cuda
