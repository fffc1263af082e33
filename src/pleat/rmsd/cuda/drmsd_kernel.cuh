// dRMSD kernels: products of the deviations of distances on tensor cores; values that these leave.
#pragma once

#include "pleat/core/loops/sweep.h"
#include "pleat/rmsd/cuda/tile_product.cuh"
#include "pleat/rmsd/measures/lddt_block.h"

namespace pleat::rmsd::cuda {

/// Frames per panel and distances per chunk follow from mma.m16n8k16. A tile of pairs has 128
/// frames per side; a warp computes 64 by 32 of it. Two CTAs share a multiprocessor.
constexpr int kDrmsdPanel = 16, kDrmsdRowPanels = 8, kDrmsdColumnPanels = 8, kWarpPanels = 4,
              kWarpColumns = 2;
constexpr int kTilePanels = kDrmsdRowPanels + kDrmsdColumnPanels, kDrmsdThreads = 256;
constexpr int kRowWarps = kDrmsdRowPanels / kWarpPanels;
static_assert(kRowWarps * kDrmsdColumnPanels / kWarpColumns * 32 == kDrmsdThreads);
/// Words of a chunk of a panel: [part][lane], part 0 the float16, 1 its remainder.
constexpr int kDrmsdChunk = 16, kPanelWords = 2 * 32;
/// Chunks of a stage in shared memory.
constexpr int kStageChunks = 2;
constexpr int kStageWords = kTilePanels * kStageChunks * kPanelWords;
constexpr Index kStageBytes = Index{kStageWords} * 16;
/// Markers in place of values: pairs too similar for the product to decide, and among these the
/// pairs that need float64 instead of float32.
constexpr float kLeft = -1.0f, kNearlyEqual = -2.0f;

/// Frames and their distances less the means, each times the roots of both atoms' weights.
struct DistanceFrames {
    const double* xyz;  ///< [frame, axis, atom]
    Index frames, atoms;
    const double* roots;  ///< [atom]: of the weights

    __device__ __forceinline__ double distance(Index frame, ListedPair pair) const {
        const double* const p = xyz + frame * 3 * atoms;
        double sum = 0.0;
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            const double difference = p[axis * atoms + pair.k] - p[axis * atoms + pair.l];
            sum = fma(difference, difference, sum);
        }
        return sqrt(sum);
    }
    __device__ __forceinline__ double root(ListedPair pair) const {
        return roots[pair.k] * roots[pair.l];
    }
};

/// All pairs of atoms in the order of distance_block.h.
struct DistanceList {
    const ListedPair* pairs;
    const double* means;  ///< [pair]
    Index count;
    double scale;  ///< a power of two, by which deviations are multiplied before they are rounded
};

/// A deviation as float16 and its remainder.
struct TwoHalves {
    __half value, remainder;

    __device__ __forceinline__ double sum() const {
        return double{__half2float(value)} + double{__half2float(remainder)};
    }
};

__device__ __forceinline__ TwoHalves deviation(const DistanceFrames& frames,
                                               const DistanceList& list, Index frame, Index n) {
    if (n >= list.count || frame >= frames.frames)
        return {__float2half_rn(0.0f), __float2half_rn(0.0f)};
    const ListedPair pair = list.pairs[n];
    const double exact =
        frames.root(pair) * (frames.distance(frame, pair) - list.means[n]) * list.scale;
    const __half value = __float2half_rn(static_cast<float>(exact));
    return {value, __float2half_rn(static_cast<float>(exact - double{__half2float(value)}))};
}

/// In place of a square: of a frame with a coordinate that is not finite or beyond 1e15.
constexpr double kNotFinite = 1e300;

/// Brings frames [frame, atom, axis] into float64, [frame, axis, atom]; `furthest`: the bits of the
/// largest square of a distance to a frame's first atom. A warp has one frame.
static __global__ void __launch_bounds__(kDrmsdThreads)
    widen_frames(const float* from, Index frames, Index atoms, double* to,
                 unsigned long long* furthest) {
    const Index frame = static_cast<Index>(blockIdx.x) * (kDrmsdThreads / 32) + threadIdx.x / 32;
    if (frame >= frames) return;
    const float* const first = from + frame * 3 * atoms;
    double largest = 0.0;
    for (Index k = threadIdx.x % 32; k < atoms; k += 32) {
        double square = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            const float own = first[3 * k + axis];
            const double difference = double{own} - double{first[axis]};
            square = fabsf(own) <= 1e15f ? fma(difference, difference, square) : kNotFinite;
            to[(frame * 3 + axis) * atoms + k] = own;
        }
        largest = square <= largest ? largest : square < kNotFinite ? square : kNotFinite;
    }
    for (int apart = 16; apart > 0; apart /= 2) {
        const double other = __shfl_xor_sync(~0u, largest, apart);
        largest = other > largest ? other : largest;
    }
    if (threadIdx.x % 32 == 0)
        atomicMax(furthest, static_cast<unsigned long long>(__double_as_longlong(largest)));
}

/// The mean of each distance over `used` evenly spaced frames. One thread per distance.
static __global__ void __launch_bounds__(kDrmsdThreads)
    average_distances(DistanceFrames frames, DistanceList list, Index used, double* means) {
    const Index n = static_cast<Index>(blockIdx.x) * kDrmsdThreads + threadIdx.x;
    if (n >= list.count) return;
    const ListedPair pair = list.pairs[n];
    double sum = 0.0;
    for (Index of = 0; of < used; ++of) sum += frames.distance(of * frames.frames / used, pair);
    means[n] = sum / static_cast<double>(used);
}

/// The mean square of each frame's rounded deviations. One warp per frame.
static __global__ void __launch_bounds__(kDrmsdThreads)
    add_deviations(DistanceFrames frames, DistanceList list, double unit, double* squares) {
    const Index frame = static_cast<Index>(blockIdx.x) * (kDrmsdThreads / 32) + threadIdx.x / 32;
    if (frame >= frames.frames) return;
    double sum = 0.0;
    for (Index n = threadIdx.x % 32; n < list.count; n += 32) {
        const double value = deviation(frames, list, frame, n).sum();
        sum += value * value;
    }
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
    if (threadIdx.x % 32 == 0) squares[frame] = sum * unit;
}

/// Packs the deviations of some chunks in some panels, [panel, chunk, part, lane]. A thread has one
/// lane's eight numbers of both parts: rows g and g + 8, atoms 2 t, 2 t + 1 and 8 later, where
/// lane = 4 g + t.
static __global__ void __launch_bounds__(kDrmsdThreads)
    pack_deviations(DistanceFrames frames, DistanceList list, Index first_panel, Index first_chunk,
                    Index chunks, Index words, Words* to) {
    const Index word = static_cast<Index>(blockIdx.x) * kDrmsdThreads + threadIdx.x;
    if (word >= words) return;
    const int lane = static_cast<int>(word % 32);
    const Index chunk = word / 32 % chunks, panel = word / 32 / chunks;
    const Index frame = (first_panel + panel) * kDrmsdPanel + lane / 4;
    const Index first = (first_chunk + chunk) * kDrmsdChunk + lane % 4 * 2;
    alignas(16) __half value[8], remainder[8];
#pragma unroll
    for (int n = 0; n < 8; ++n) {
        const TwoHalves both =
            deviation(frames, list, frame + n / 2 % 2 * 8, first + n % 2 + n / 4 * 8);
        value[n] = both.value;
        remainder[n] = both.remainder;
    }
    Words* const at = to + (panel * chunks + chunk) * kPanelWords + lane;
    at[0] = *reinterpret_cast<const Words*>(value);
    at[32] = *reinterpret_cast<const Words*>(remainder);
}

/// Packed panels of one side, from `first_panel` on.
struct DrmsdSide {
    const Words* operands;
    Index first_panel;
    const double* squares;  ///< [frame]: mean squares, angstrom^2
    Block block;
};

struct DrmsdTask {
    DrmsdSide rows, columns;
    Index chunks;  ///< of this launch, in whole stages
    Index row_tiles;
    double unit;      ///< of a product, angstrom^2
    float error;      ///< of a product, in units of both frames' root mean squares
    float tolerance;  ///< angstrom
    bool is_first, is_last;
    float* values;  ///< [row, column]: sums of earlier launches, in the end the values

    __device__ __forceinline__ bool has(Index i, Index j) const {
        const Block &down = rows.block, &across = columns.block;
        return i >= down.first && i < down.first + down.count && j >= across.first &&
               j < across.first + across.count;
    }
    __device__ __forceinline__ float& value(Index i, Index j) const {
        return values[(i - rows.block.first) * columns.block.count + j - columns.block.first];
    }
};

/// Starts copying a stage of kPanels panels of one side; panels after the last one are skipped.
template <int kPanels>
__device__ __forceinline__ void load_panels(const DrmsdSide& side, Index chunks, Index panel,
                                            Index stage, Words* to) {
    constexpr int kWords = kStageChunks * kPanelWords;  // of a panel
    constexpr int kAtOnce = kDrmsdThreads / kWords;     // panels
    const int word = threadIdx.x % kWords, own = threadIdx.x / kWords;
    const auto left =
        static_cast<int>((side.block.first + side.block.count - 1) / kDrmsdPanel - panel - own);
    const Words* const from = side.operands +
                              (panel + own - side.first_panel) * chunks * kPanelWords +
                              stage * kWords + word;
#pragma unroll
    for (int n = 0; n < kPanels; n += kAtOnce)
        if (n <= left) copy_async(to + threadIdx.x + n * kWords, from + n * chunks * kPanelWords);
}

__device__ __forceinline__ void load_stage(const DrmsdTask& task, Index row_panel,
                                           Index column_panel, Index stage, Words* to) {
    constexpr int kWords = kStageChunks * kPanelWords;
    load_panels<kDrmsdRowPanels>(task.rows, task.chunks, row_panel, stage, to);
    load_panels<kDrmsdColumnPanels>(task.columns, task.chunks, column_panel, stage,
                                    to + kDrmsdRowPanels * kWords);
}

using DrmsdSums = float[kWarpPanels][kWarpColumns][8];

/// Adds the products of a chunk, small ones first. Tensor cores truncate sums, so they add only a
/// few products at a time, and other instructions add these to the sums.
__device__ __forceinline__ void multiply_deviations(const Words* rows, const Words* columns,
                                                    DrmsdSums& sums) {
    constexpr int kPanel = kStageChunks * kPanelWords;  // words between panels
    Words q[kWarpColumns][2];
#pragma unroll
    for (int column = 0; column < kWarpColumns; ++column)
#pragma unroll
        for (int part = 0; part < 2; ++part) q[column][part] = columns[column * kPanel + part * 32];
#pragma unroll
    for (int row = 0; row < kWarpPanels; ++row) {
        const Words p[2] = {rows[row * kPanel], rows[row * kPanel + 32]};
        float some[kWarpColumns][8] = {};
#pragma unroll
        for (int product = 2; product >= 0; --product) {
            const Words& own = p[product == 2 ? 1 : 0];
            const std::uint32_t a[4] = {own.x, own.y, own.z, own.w};
#pragma unroll
            for (int column = 0; column < kWarpColumns; ++column) {
                const Words& of = q[column][product == 1 ? 1 : 0];
                multiply_halves(some[column], a, of.x, of.z);
                multiply_halves(some[column] + 4, a, of.y, of.w);
            }
        }
#pragma unroll
        for (int column = 0; column < kWarpColumns; ++column)
#pragma unroll
            for (int n = 0; n < 8; ++n) sums[row][column][n] += some[column][n];
    }
}

/// The value of a pair with a known product, or kLeft.
__device__ __forceinline__ float drmsd_of(const DrmsdTask& task, Index i, Index j, float product) {
    const double p = task.rows.squares[i], q = task.columns.squares[j];
    const auto square = static_cast<float>(p + q - 2.0 * task.unit * product);
    const float error = 2.0f * task.error * sqrtf(static_cast<float>(p * q));
    const float value = sqrtf(fmaxf(square, 0.0f));
    return error < 2.0f * task.tolerance * value ? value : kLeft;
}

/// One CTA per tile, with kStages stages in shared memory; tiles of the same columns are
/// neighbours, so that CTAs that run together share frames.
template <int kStages>
__global__ void __launch_bounds__(kDrmsdThreads, 2)
    multiply_distances(const __grid_constant__ DrmsdTask task) {
    PLEAT_DYNAMIC_SHARED(Words, memory);
    const Index row_panel = task.rows.block.first / kDrmsdPanel +
                            blockIdx.x % task.row_tiles * kDrmsdRowPanels,
                column_panel = task.columns.block.first / kDrmsdPanel +
                               blockIdx.x / task.row_tiles * kDrmsdColumnPanels;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp % kRowWarps * kWarpPanels,
              warp_column = warp / kRowWarps * kWarpColumns;
    const int stages = static_cast<int>(task.chunks / kStageChunks);
    DrmsdSums sums;
    const auto for_each_pair = [&](const auto& work) {
#pragma unroll
        for (int row = 0; row < kWarpPanels; ++row)
#pragma unroll
            for (int column = 0; column < kWarpColumns; ++column)
#pragma unroll
                for (int n = 0; n < 8; ++n) {
                    const Index i = (row_panel + warp_row + row) * kDrmsdPanel + lane / 4 +
                                    n / 2 % 2 * 8,
                                j = (column_panel + warp_column + column) * kDrmsdPanel +
                                    n / 4 * 8 + lane % 4 * 2 + n % 2;
                    work(i, j, sums[row][column][n]);
                }
    };
    for_each_pair([&](Index, Index, float& sum) { sum = 0.0f; });
    if (!task.is_first)
        for_each_pair([&](Index i, Index j, float& sum) {
            if (task.has(i, j)) sum = task.value(i, j);
        });
    for (int stage = 0; stage < kStages - 1; ++stage) {
        if (stage < stages)
            load_stage(task, row_panel, column_panel, stage, memory + stage * kStageWords);
        end_copies();
    }
    for (int stage = 0; stage < stages; ++stage) {
        wait_for_copies<kStages - 2>();
        __syncthreads();  // the stage is there for all, and none reads the one that is loaded next
        const int next = stage + kStages - 1;
        if (next < stages)
            load_stage(task, row_panel, column_panel, next, memory + next % kStages * kStageWords);
        end_copies();
        const Words* const at = memory + stage % kStages * kStageWords + lane;
        constexpr int kPanel = kStageChunks * kPanelWords;
#pragma unroll
        for (int chunk = 0; chunk < kStageChunks; ++chunk)
            multiply_deviations(at + warp_row * kPanel + chunk * kPanelWords,
                                at + (kDrmsdRowPanels + warp_column) * kPanel + chunk * kPanelWords,
                                sums);
    }
    for_each_pair([&](Index i, Index j, float& sum) {
        if (task.has(i, j)) task.value(i, j) = task.is_last ? drmsd_of(task, i, j, sum) : sum;
    });
}

/// Frames per side of a tile (a thread computes kNearOfThread by kNearOfThread pairs); distances in
/// shared memory at a time; and the number of marked values from which a whole tile is computed, as
/// this is then faster than pair by pair.
constexpr int kNearTile = 64, kNearOfThread = 4, kNearChunk = 32, kManyLeft = 256;
constexpr int kNearTileThreads = kNearTile / kNearOfThread;
static_assert(kNearTileThreads * kNearTileThreads == kDrmsdThreads);
/// Distance between rows of one frame, chosen so that stores meet few bank conflicts.
constexpr int kNearStride = kNearTile + 4;

struct NearTask {
    DistanceFrames rows, columns;
    DistanceList list;
    double weight;  ///< of all pairs of atoms
    float limit;    ///< angstrom: values below it are computed in float64
    bool in_float64;
    Block row_block, column_block;
    float* values;  ///< [row, column]

    /// The value of a pair, the same for every method; marked if it is below the limit.
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

/// Computes all pairs of a tile; writes those that are still marked.
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

/// Computes one pair per warp with the summation order of compute_tile(): each lane sums a chunk of
/// distances, and chunks are added in order.
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

/// One CTA per tile of the block: computes the pairs that are left of it, or with in_float64 all
/// pairs.
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
