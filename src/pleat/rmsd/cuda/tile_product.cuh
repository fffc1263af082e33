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

constexpr Index kSegmentChunks = kSegmentAtoms / kChunkAtoms;

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

/// Floats: neighbouring threads have neighbouring columns, four rows by two columns each.
/// Tensor cores: a warp has 16 rows by 16 columns as mma.m16n8k16 lays out its sums.
template <TileFormat kFormat>
__device__ __forceinline__ PairPosition position_of(int thread, int pair) {
    if constexpr (kFormat == TileFormat::floats) {
        return {thread / 16 * 4 + pair / 2, thread % 16 * 2 + pair % 2};
    } else {
        const int warp = thread / 32, lane = thread % 32;
        return {warp % 4 * 16 + lane / 4 + pair / 2 % 2 * 8,
                warp / 4 * 16 + pair / 4 * 8 + lane % 4 * 2 + pair % 2};
    }
}

struct alignas(16) FourFloats {
    float v[4];
};
struct alignas(8) TwoFloats {
    float v[2];
};

/// Adds the products of `atoms` atoms of a chunk.
__device__ __forceinline__ void multiply_floats(const Words* chunk, int atoms, Sums& sums) {
    const int thread = threadIdx.x, row = thread / 16 * 4, column = thread % 16 * 2;
    const auto* const floats = reinterpret_cast<const float*>(chunk);
    constexpr int kPanel = 4 * chunk_words(TileFormat::floats);
    const float* const rows = floats + row / kPanelFrames * kPanel + row % kPanelFrames;
    const float* const columns = floats + kRowPanels * kPanel + column;
#pragma unroll 4
    for (int atom = 0; atom < atoms; ++atom) {
        FourFloats p[3];
        TwoFloats q[3];
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            const int at = float_offset(0, atom, axis);
            p[axis] = *reinterpret_cast<const FourFloats*>(rows + at);
            q[axis] = *reinterpret_cast<const TwoFloats*>(columns + at);
        }
#pragma unroll
        for (int entry = 0; entry < 9; ++entry)
#pragma unroll
            for (int pair = 0; pair < kPairsOfThread; ++pair)
                sums[entry][pair] =
                    fmaf(p[entry / 3].v[pair / 2], q[entry % 3].v[pair % 2], sums[entry][pair]);
    }
}

/// Adds the products of a chunk on tensor cores.
__device__ __forceinline__ void multiply_chunk(const Words* chunk, Sums& sums) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    constexpr int kHalfPanel = 3 * 32;
    const Words* const rows = chunk + warp % 4 * kHalfPanel + lane;
    const Words* const columns = chunk + (2 * kRowPanels + warp / 4) * kHalfPanel + lane;
    Words q[3];
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) q[axis] = columns[axis * 32];
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
        const Words own = rows[axis * 32];
        const std::uint32_t a[4] = {own.x, own.y, own.z, own.w};
#pragma unroll
        for (int other = 0; other < 3; ++other) {
            float(&to)[kPairsOfThread] = sums[3 * axis + other];
            multiply_halves(to, a, q[other].x, q[other].z);
            multiply_halves(to + 4, a, q[other].y, q[other].w);
        }
    }
}

/// Starts copying a chunk of the tile's panels.
template <TileFormat kFormat>
__device__ __forceinline__ void load_chunk(const TilePanels& panels, Index chunk, Words* to) {
    constexpr int kWords = chunk_words(kFormat);
    for (int word = threadIdx.x; word < kPanelsOfTile * kWords; word += kTileThreads)
        copy_async(to + word,
                   panel_of(panels.operands, word / kWords) + chunk * kWords + word % kWords);
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

template <TileFormat kFormat>
__device__ __forceinline__ void multiply_tile(const TileTask& task, const TilePanels& panels,
                                              Words* memory, Sums& sums) {
    constexpr Index kStage = stage_words(kFormat);
    auto* const aside = reinterpret_cast<float*>(memory + kStages * kStage);
    const bool is_long = task.chunks > kSegmentChunks;
#pragma unroll
    for (int entry = 0; entry < 9; ++entry)
#pragma unroll
        for (int pair = 0; pair < kPairsOfThread; ++pair) sums[entry][pair] = 0.0f;
    if (is_long)
        for (int n = threadIdx.x; n < 9 * kPairsOfThread * kTileThreads; n += kTileThreads)
            aside[n] = 0.0f;
    for (Index chunk = 0; chunk < kStages - 1; ++chunk) {
        if (chunk < task.chunks) load_chunk<kFormat>(panels, chunk, memory + chunk * kStage);
        end_copies();
    }
    for (Index chunk = 0; chunk < task.chunks; ++chunk) {
        wait_for_copies<kStages - 2>();
        __syncthreads();  // chunk is there for all, and none reads the stage that is loaded next
        const Index next = chunk + kStages - 1;
        if (next < task.chunks) load_chunk<kFormat>(panels, next, memory + next % kStages * kStage);
        end_copies();
        const Words* const at = memory + chunk % kStages * kStage;
        if constexpr (kFormat == TileFormat::floats) {
            const Index left = task.atoms - chunk * kChunkAtoms;
            multiply_floats(
                at, left < kChunkAtoms ? static_cast<int>(left + 3) / 4 * 4 : kChunkAtoms, sums);
        } else {
            multiply_chunk(at, sums);
        }
        if (is_long && (chunk + 1) % kSegmentChunks == 0) put_aside<false>(sums, aside);
    }
    if (is_long) put_aside<true>(sums, aside);
    __syncthreads();  // the stages are free
}

}  // namespace pleat::rmsd::cuda
