// Tile sinks: what the pairs of a band become on the GPU: values, counts, or neighbour bits.
#pragma once

#include "pleat/core/pairs/pair_source.h"
#include "pleat/rmsd/cuda/tile_pack.h"
#include "pleat/rmsd/cuda/tile_product.cuh"

namespace pleat::rmsd::cuda {

/// The position of a tile: its first row and column, and its band's rows.
struct TilePosition {
    Index row, column;
    Block rows;
};

// A sink receives the values of pairs. Its type Local is the state of one thread. `memory` is
// shared by the CTA.
//     open(memory): called at the start by all threads, before a barrier
//     put(local, memory, position, row, column, solved): adds a pair of the tile; returns false,
//         and adds nothing, if its value is not certain
//     put_exact(local, memory, position, row, column, rmsd): adds a pair with its float64 value
//     close(local, memory, position): called by all threads after a barrier
//     put_recomputed(i, j, rmsd): adds a doubtful pair, called by any thread of a later kernel

/// The required certainty of values: their tolerance (angstrom), `near` below the cutoff and `far`
/// above it, and whether they must be on the correct side of it and of bin edges (0: no check).
struct Edges {
    float near, far, cutoff, bin, inverse_bin;

    /// `error` of the square. Beside it: rounding of the value, of the bin and of their quotient.
    __device__ __forceinline__ bool is_certain(float value, float error) const {
        if (!(error < 2 * (value < cutoff ? near : far) * value)) return false;
        const float allowed = 0.505f * error + 5e-7f * value * value;
        if (cutoff > 0 && !(fabsf(value - cutoff) * value > allowed)) return false;
        const float quotient = value * inverse_bin;
        if (!(bin > 0) || quotient > kMaxBins) return true;
        return fabsf(value - bin * rintf(quotient)) * value > allowed;
    }
};

/// Condensed values of a band.
struct ValueSink {
    struct Local {};

    float* rmsd;
    Index frames, first;  ///< pairs before the band
    Edges edges;

    __device__ __forceinline__ void open(Words*) const {}
    __device__ __forceinline__ bool put(Local& local, Words* memory, const TilePosition& position,
                                        int row, int column, const Solved& solved) const {
        const float value = sqrtf(solved.square);
        if (!edges.is_certain(value, solved.error)) return false;
        put_exact(local, memory, position, row, column, value);
        return true;
    }
    __device__ __forceinline__ void put_exact(Local&, Words*, const TilePosition& position, int row,
                                              int column, float value) const {
        put_recomputed(position.row + row, position.column + column, value);
    }
    __device__ __forceinline__ void close(const Local&, Words*, const TilePosition&) const {}
    __device__ __forceinline__ void put_recomputed(Index i, Index j, float value) const {
        rmsd[pairs_before(i, frames) - first + j - i - 1] = value;
    }
};

/// Bins that a CTA counts in shared memory; others are counted in global memory.
constexpr int kSharedBins = 1024;

/// Histogram, extremes, sum, and the pairs below the cutoff. Sums are of integers, so that their
/// order does not matter.
struct CountSink {
    struct Local {
        unsigned long long sum = 0;
        unsigned min = 0x7f800000u, max = 0;  // bits of floats, which are not negative
    };

    Edges edges;
    double bin;       ///< as the host divides by it
    float sum_scale;  ///< a power of two by which values are multiplied before they are rounded
    unsigned long long* histogram;
    unsigned long long* sum;
    unsigned* extremes;  ///< bits of the minimum and the maximum
    NearPair* near;
    unsigned long long* near_count;
    Index near_capacity;

    __device__ __forceinline__ void open(Words* memory) const {
        auto* const bins = reinterpret_cast<unsigned*>(memory);
        for (int n = threadIdx.x; n < kSharedBins; n += kTileThreads) bins[n] = 0;
    }
    __device__ __forceinline__ bool put(Local& local, Words* memory, const TilePosition& position,
                                        int row, int column, const Solved& solved) const {
        const float value = sqrtf(solved.square);
        if (!edges.is_certain(value, solved.error)) return false;
        const float bin_quotient = value * edges.inverse_bin;  // of which the floor is certain
        add(local, memory, position, row, column, value,
            bin_quotient < kMaxBins - 1.0f ? static_cast<int>(bin_quotient) : kMaxBins - 1);
        return true;
    }
    __device__ __forceinline__ void put_exact(Local& local, Words* memory,
                                              const TilePosition& position, int row, int column,
                                              float value) const {
        add(local, memory, position, row, column, value, bin_of(value));
    }
    __device__ __forceinline__ void close(const Local& local, Words* memory,
                                          const TilePosition&) const {
        const auto* const bins = reinterpret_cast<const unsigned*>(memory);
        for (int n = threadIdx.x; n < kSharedBins; n += kTileThreads)
            if (bins[n] != 0) atomicAdd(histogram + n, static_cast<unsigned long long>(bins[n]));
        const unsigned min_bits = __reduce_min_sync(~0u, local.min);
        const unsigned max_bits = __reduce_max_sync(~0u, local.max);
        unsigned long long total = local.sum;
        for (int apart = 16; apart > 0; apart /= 2) total += __shfl_xor_sync(~0u, total, apart);
        if (threadIdx.x % 32 != 0) return;
        extend(min_bits, max_bits);
        if (total != 0) atomicAdd(sum, total);
    }
    __device__ __forceinline__ void put_recomputed(Index i, Index j, float value) const {
        atomicAdd(histogram + bin_of(value), 1ULL);
        atomicAdd(sum, static_cast<unsigned long long>(rounded(value)));
        extend(__float_as_uint(value), __float_as_uint(value));
        list(i, j, value);
    }

private:
    __device__ __forceinline__ void add(Local& local, Words* memory, const TilePosition& position,
                                        int row, int column, float value, int at) const {
        if (at < kSharedBins)
            atomicAdd(reinterpret_cast<unsigned*>(memory) + at, 1u);
        else
            atomicAdd(histogram + at, 1ULL);
        const unsigned bits = __float_as_uint(value);
        local.min = bits < local.min ? bits : local.min;
        local.max = bits > local.max ? bits : local.max;
        local.sum += rounded(value);
        list(position.row + row, position.column + column, value);
    }
    __device__ __forceinline__ int bin_of(float value) const {
        const double quotient = value / bin;
        return static_cast<int>(quotient < kMaxBins - 1.0 ? quotient : kMaxBins - 1.0);
    }
    __device__ __forceinline__ unsigned rounded(float value) const {
        return __float2uint_rn(value * sum_scale);
    }
    __device__ __forceinline__ void extend(unsigned min_bits, unsigned max_bits) const {
        if (min_bits < extremes[0]) atomicMin(extremes, min_bits);
        if (max_bits > extremes[1]) atomicMax(extremes + 1, max_bits);
    }
    __device__ __forceinline__ void list(Index i, Index j, float value) const {
        if (!(edges.cutoff > 0 && value < edges.cutoff)) return;
        const unsigned long long at = atomicAdd(near_count, 1ULL);
        if (at < static_cast<unsigned long long>(near_capacity))
            near[at] = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), value};
    }
};

/// Sets neighbour bits and counts each frame's neighbours. Values may be inexact, since only their
/// side of the cutoff matters.
struct BitSink {
    struct Local {};

    BitTiles tiles;
    int* counts;   ///< [frame]
    float cutoff;  ///< angstrom
    float square;  ///< of the cutoff

    __device__ __forceinline__ void open(Words* memory) const {
        if (threadIdx.x < kTileRows) reinterpret_cast<unsigned*>(memory)[threadIdx.x] = 0;
    }
    __device__ __forceinline__ bool put(Local&, Words* memory, const TilePosition&, int row,
                                        int column, const Solved& solved) const {
        const float error = solved.error + 5e-7f * square;
        if (solved.square + error < square) {
            mark(memory, row, column);
            return true;
        }
        return solved.square - error > square;
    }
    __device__ __forceinline__ void put_exact(Local&, Words* memory, const TilePosition&, int row,
                                              int column, float value) const {
        if (value < cutoff) mark(memory, row, column);
    }
    __device__ __forceinline__ void close(const Local&, Words* memory,
                                          const TilePosition& position) const {
        const auto* const words = reinterpret_cast<const unsigned*>(memory);
        const int thread = threadIdx.x;
        if (thread < kTileRows) {
            const Index i = position.row + thread;
            if (i < position.rows.first || i >= position.rows.first + position.rows.count ||
                position.column / kBitSide < i / kBitSide)
                return;
            tiles.word(i, position.column / kBitSide) = words[thread];
            if (words[thread] != 0) atomicAdd(counts + i, __popc(words[thread]));
        } else if (thread < kTileRows + kPanelFrames) {
            const int column = thread - kTileRows;
            int count = 0;
            for (int row = 0; row < kTileRows; ++row) count += words[row] >> column & 1;
            if (count != 0) atomicAdd(counts + position.column + column, count);
        }
    }
    /// Runs after the kernel that wrote the words of neighbour bits.
    __device__ __forceinline__ void put_recomputed(Index i, Index j, float value) const {
        if (!(value < cutoff)) return;
        atomicOr(&tiles.word(i, j / kBitSide), 1u << j % kBitSide);
        atomicAdd(counts + i, 1);
        atomicAdd(counts + j, 1);
    }

private:
    __device__ __forceinline__ void mark(Words* memory, int row, int column) const {
        atomicOr(reinterpret_cast<unsigned*>(memory) + row, 1u << column);
    }
};

}  // namespace pleat::rmsd::cuda
