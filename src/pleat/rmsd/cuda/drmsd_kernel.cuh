// dRMSD kernels: products of the deviations of distances on tensor cores.
#pragma once

#include "pleat/core/loops/sweep.h"
#include "pleat/rmsd/cuda/tile_task.cuh"
#include "pleat/rmsd/measures/lddt_block.h"

namespace pleat::rmsd::cuda {

using pleat::cuda::copy_async;
using pleat::cuda::end_copies;
using pleat::cuda::multiply_halves;
using pleat::cuda::wait_for_copies;

/// Frames of a panel and distances of a chunk are those of mma.m16n8k16. A tile of pairs has 128
/// frames on each side; a warp of it has 64 by 32. Two CTAs share a processor.
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
/// Markers instead of values: pairs that the product cannot decide, since they are small compared
/// with the deviations, and of these the ones that need float64 instead of float32.
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

/// The mean of each distance over `used` frames, spread evenly. A thread has one distance.
static __global__ void __launch_bounds__(kDrmsdThreads)
    average_distances(DistanceFrames frames, DistanceList list, Index used, double* means) {
    const Index n = static_cast<Index>(blockIdx.x) * kDrmsdThreads + threadIdx.x;
    if (n >= list.count) return;
    const ListedPair pair = list.pairs[n];
    double sum = 0.0;
    for (Index of = 0; of < used; ++of) sum += frames.distance(of * frames.frames / used, pair);
    means[n] = sum / static_cast<double>(used);
}

/// The mean square of each frame's deviations as they are rounded. A warp has one frame.
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

/// The value of a pair whose product is known, or kLeft.
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

}  // namespace pleat::rmsd::cuda
