// Tile product: the arguments of the kernels of a band, and the covariances of a tile of pairs, by
// a CTA, in registers.
#pragma once

#include "pleat/core/loops/sweep.h"
#include "pleat/rmsd/cuda/tile_pack.h"

namespace pleat::rmsd::cuda {

struct alignas(16) Words {
    std::uint32_t x, y, z, w;
};

/// A pair of frames in ascending order.
struct DoubtfulPair {
    std::uint32_t i, j;
};

/// Pairs whose float32 value is uncertain: the first `*count` of `pairs`, up to `capacity`. The
/// thread that finds a further pair recomputes it at once.
struct Doubts {
    DoubtfulPair* pairs;
    unsigned* count;
    unsigned capacity;
};

/// The pairs of a band's rows with all later frames. `operands`, `terms`: of a TilePack; `xyz`:
/// float64 frames [frame, axis, atom]; `weight`: divisor of sums of squares.
struct TileTask {
    const Words* operands;
    const FrameTerms* terms;
    const double* xyz;
    Index frames, atoms, panels, chunks;
    double weight;
    SolverScale scale;
    Block rows;
    Index first_panel, row_tiles;  ///< of the rows
    Doubts doubts;
    const std::uint32_t* ids = nullptr;  ///< frames that doubtful pairs number; null: all frames

    __device__ __forceinline__ const double* frame(Index n) const {
        return xyz + (ids == nullptr ? n : ids[n]) * 3 * atoms;
    }
};

using pleat::cuda::copy_async;
using pleat::cuda::end_copies;
using pleat::cuda::load_matrices;
using pleat::cuda::multiply_halves;
using pleat::cuda::wait_for_copies;

/// Number of chunks in shared memory: one is multiplied while others are copied.
constexpr int kStages = 3;
constexpr int kPanelsOfTile = kRowPanels + 1;

/// Where the panels of a tile lie: two of rows and one of columns.
struct TilePanels {
    const Words* operands[kPanelsOfTile];
    const FrameTerms* terms[kPanelsOfTile];
};

/// One of three pointers, without an array in local memory.
template <class T>
__device__ __forceinline__ const T* panel_of(const T* const (&panels)[kPanelsOfTile], int panel) {
    return panel == 0 ? panels[0] : panel == 1 ? panels[1] : panels[2];
}

constexpr int kSegmentChunks = kSegmentAtoms / kChunkAtoms;

/// A thread's sums: [3 row axis + column axis][pair]; pairs in the order of position_of().
using Sums = float[9][kPairsOfThread];

PLEAT_HOST_DEVICE constexpr Index stage_words(TileFormat format) {
    return kPanelsOfTile * chunk_words(format);
}

/// Bytes of shared memory that a tile needs; sums of earlier segments are stored after the stages.
PLEAT_HOST_DEVICE constexpr Index tile_bytes(TileFormat format, Index chunks) {
    const Index aside = chunks > kSegmentChunks ? 9 * kPairsOfThread * kTileThreads * 4 : 0;
    return kStages * stage_words(format) * 16 + aside;
}

struct PairPosition {
    int row, column;
};

/// A warp has 16 rows by 16 columns as mma.m16n8k16 lays out its sums.
__device__ __forceinline__ PairPosition position_of(int thread, int pair) {
    const int warp = thread / 32, lane = thread % 32;
    return {warp % 4 * 16 + lane / 4 + pair / 2 % 2 * 8,
            warp / 4 * 16 + pair / 4 * 8 + lane % 4 * 2 + pair % 2};
}

/// Words of a part between the numbers of one axis and of the next.
constexpr int kAxisWords = kPartWords / 3;

/// Adds the products of numbers of rows, of one part of a chunk each, with those of columns;
/// kApart: sums of the chunk are rounded before they are added, not truncated with all others.
template <bool kApart>
__device__ __forceinline__ void multiply_part(const Words* rows, const std::uint32_t (&q)[3][4],
                                              Sums& sums) {
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
        std::uint32_t a[4];
        load_matrices<false>(a, reinterpret_cast<const __half*>(rows + axis * kAxisWords));
#pragma unroll
        for (int other = 0; other < 3; ++other) {
            float(&all)[kPairsOfThread] = sums[3 * axis + other];
            float of_chunk[kPairsOfThread] = {};
            float* const to = kApart ? of_chunk : all;
            multiply_halves(to, a, q[other][0], q[other][1]);
            multiply_halves(to + 4, a, q[other][2], q[other][3]);
#pragma unroll
            for (int pair = 0; kApart && pair < kPairsOfThread; ++pair) all[pair] += of_chunk[pair];
        }
    }
}

__device__ __forceinline__ void load_columns(const Words* columns, std::uint32_t (&q)[3][4]) {
#pragma unroll
    for (int axis = 0; axis < 3; ++axis)
        load_matrices<false>(q[axis], reinterpret_cast<const __half*>(columns + axis * kAxisWords));
}

/// Adds the products of a chunk: of the high parts, and of high with low parts. A warp has 16 rows
/// by 16 columns; the matrices of its operands are eight frames by eight atoms.
template <TileFormat kFormat, bool kHigh, bool kMixed>
__device__ __forceinline__ void multiply_chunk(const Words* chunk, Sums& sums) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, matrix = lane / 8;
    constexpr int kPanel = chunk_words(kFormat);
    const Words* const rows = chunk + warp % 4 / 2 * kPanel + warp % 2 * 16 +
                              (matrix / 2 * kPanelFrames + matrix % 2 * 8 + lane % 8);
    const Words* const columns = chunk + kRowPanels * kPanel + warp / 4 * 16 +
                                 (matrix % 2 * kPanelFrames + matrix / 2 * 8 + lane % 8);
    std::uint32_t q[3][4];
    load_columns(columns, q);
    constexpr bool kApart = kFormat == TileFormat::split && !kMixed;
    if constexpr (kMixed) multiply_part<false>(rows + kPartWords, q, sums);
    if constexpr (kHigh) multiply_part<kApart>(rows, q, sums);
    if constexpr (kMixed) {
        load_columns(columns + kPartWords, q);
        multiply_part<false>(rows, q, sums);
    }
}

/// A step of multiply_tile(): its chunk, and the stage of memory that holds it.
template <TilePrecision kPrecision>
struct TileStep {
    static constexpr bool kTwice = kPrecision == TilePrecision::full;

    int chunks;
    int chunk = 0, stage = 0;
    bool is_high = !kTwice;  ///< if a segment's chunks come twice: all but the high parts first

    __device__ __forceinline__ void advance() {
        stage = stage + 1 == kStages ? 0 : stage + 1;
        ++chunk;
        if (!kTwice || (chunk != chunks && chunk % kSegmentChunks != 0)) return;
        if (!is_high) chunk = (chunk - 1) / kSegmentChunks * kSegmentChunks;
        is_high = !is_high;
    }
    __device__ __forceinline__ bool ends_segment() const {
        return is_high && (chunk + 1) % kSegmentChunks == 0;
    }
};

/// Starts copying a chunk of the tile's panels; `kParts`: 1 for the high parts alone.
template <TileFormat kFormat, int kParts>
__device__ __forceinline__ void load_chunk(const TilePanels& panels, int chunk, Words* to) {
    constexpr int kWords = chunk_words(kFormat), kLoaded = kParts * kPartWords;
    const int thread = threadIdx.x;
    const Index offset = Index{chunk} * kWords + thread;
#pragma unroll
    for (int panel = 0; panel < kPanelsOfTile; ++panel) {
#pragma unroll
        for (int word = 0; word < kLoaded; word += kTileThreads)
            if (thread < kLoaded - word)
                copy_async(to + panel * kWords + word + thread,
                           panels.operands[panel] + offset + word);
    }
}

/// Stores the sums of a segment, or with kTakeBack adds the stored sums to the current ones.
template <bool kTakeBack>
__device__ __forceinline__ void put_aside(Sums& sums, float* aside) {
#pragma unroll
    for (int entry = 0; entry < 9; ++entry) {
#pragma unroll
        for (int pair = 0; pair < kPairsOfThread; ++pair) {
            float& stored = aside[(entry * kPairsOfThread + pair) * kTileThreads + threadIdx.x];
            if constexpr (kTakeBack) {
                sums[entry][pair] += stored;
            } else {
                stored += sums[entry][pair];
                sums[entry][pair] = 0.0f;
            }
        }
    }
}

template <TilePrecision kPrecision>
__device__ __forceinline__ void multiply_tile(const TileTask& task, const TilePanels& panels,
                                              Words* memory, Sums& sums) {
    constexpr TileFormat kFormat = format_of(kPrecision);
    constexpr int kStage = static_cast<int>(stage_words(kFormat));
    using Step = TileStep<kPrecision>;
    auto* const aside = reinterpret_cast<float*>(memory + kStages * kStage);
    const int chunks = static_cast<int>(task.chunks);
    const bool is_long = chunks > kSegmentChunks;
#pragma unroll
    for (int entry = 0; entry < 9; ++entry)
#pragma unroll
        for (int pair = 0; pair < kPairsOfThread; ++pair) sums[entry][pair] = 0.0f;
    if (is_long)
        for (int n = threadIdx.x; n < 9 * kPairsOfThread * kTileThreads; n += kTileThreads)
            aside[n] = 0.0f;
    Step step{chunks}, next{chunks};
    const auto load = [&] {
        constexpr int kParts = kFormat == TileFormat::half ? 1 : 2;
        if (next.chunk < chunks) {
            Words* const to = memory + next.stage * kStage;
            if (Step::kTwice && next.is_high)
                load_chunk<kFormat, 1>(panels, next.chunk, to);
            else
                load_chunk<kFormat, kParts>(panels, next.chunk, to);
            next.advance();
        }
        end_copies();
    };
    for (int n = 0; n < kStages - 1; ++n) load();
    for (; step.chunk < chunks; step.advance()) {
        wait_for_copies<kStages - 2>();
        __syncthreads();  // the chunk is there for all, and none reads the stage loaded next
        load();
        const Words* const at = memory + step.stage * kStage;
        if constexpr (Step::kTwice) {
            if (step.is_high)
                multiply_chunk<kFormat, true, false>(at, sums);
            else
                multiply_chunk<kFormat, false, true>(at, sums);
        } else {
            multiply_chunk<kFormat, true, kFormat == TileFormat::split>(at, sums);
        }
        if (is_long && step.ends_segment()) put_aside<false>(sums, aside);
    }
    if (is_long) put_aside<true>(sums, aside);
    __syncthreads();  // the stages are free
}

}  // namespace pleat::rmsd::cuda
