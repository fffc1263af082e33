// Tile sinks: what the pairs of tiles become on the GPU: values, counts, or sums.
#pragma once

#include "pleat/core/pairs/pair_source.h"
#include "pleat/rmsd/cuda/tile_pack.h"
#include "pleat/rmsd/cuda/tile_product.cuh"

namespace pleat::rmsd::cuda {

/// The position of a tile: its first row and column, its band's rows, and the number of frames.
struct TilePosition {
    Index row, column;
    Block rows;
    Index frames;

    /// Whether has() is true of all pairs of the tile.
    __device__ __forceinline__ bool has_all() const {
        return has(0, kPanelFrames - 1) && has(kTileRows - 1, 0);
    }
    /// Whether a pair of the tile is one of a row of the band with a later frame.
    __device__ __forceinline__ bool has(int of_row, int of_column) const {
        const Index i = row + of_row, j = column + of_column;
        return i >= rows.first && i < rows.first + rows.count && j > i && j < frames;
    }
    __device__ __forceinline__ DoubtfulPair pair(int of_row, int of_column) const {
        return {static_cast<std::uint32_t>(row + of_row),
                static_cast<std::uint32_t>(column + of_column)};
    }
};

/// The position of a tile of two lists of frames: its first row and column, the lengths of both
/// lists, and their frames. In a triangle both lists are the same, and a pair is one of a row with
/// a later column, numbered by positions in the list.
struct ListPosition {
    Index row, column, rows, columns;
    const std::uint32_t *row_ids, *column_ids;
    bool is_triangle;

    __device__ __forceinline__ bool has(int of_row, int of_column) const {
        const Index i = row + of_row, j = column + of_column;
        return i < rows && j < columns && (!is_triangle || j > i);
    }
    __device__ __forceinline__ bool has_all() const {
        return has(kTileRows - 1, 0) && column + kPanelFrames <= columns;
    }
    __device__ __forceinline__ std::uint32_t row_id(int of_row) const {
        return row_ids[row + of_row];
    }
    __device__ __forceinline__ std::uint32_t column_id(int of_column) const {
        return column_ids[column + of_column];
    }
    /// In ascending order, so that float64 gives the same value wherever a pair is computed.
    __device__ __forceinline__ DoubtfulPair pair(int of_row, int of_column) const {
        if (is_triangle)
            return {static_cast<std::uint32_t>(row + of_row),
                    static_cast<std::uint32_t>(column + of_column)};
        const std::uint32_t i = row_id(of_row), j = column_id(of_column);
        return i < j ? DoubtfulPair{i, j} : DoubtfulPair{j, i};
    }
};

// A sink receives the values of pairs. Its type Local is the state of one thread; kPrecision:
// coarse if values need only be on the correct side of a cutoff, counted if few are returned, those
// near the cutoff. `memory` is shared by the CTA.
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

enum class Side { below, above, unknown };

/// A cutoff that decides pairs whose values may be inexact.
struct CoarseCutoff {
    float value, square;  ///< angstrom

    __device__ __forceinline__ Side side_of(const Solved& solved) const {
        const float error = solved.error + 5e-7f * square;
        if (solved.square + error < square) return Side::below;
        return solved.square - error > square ? Side::above : Side::unknown;
    }
};

inline CoarseCutoff cutoff_at(double value) {
    const auto rounded = static_cast<float>(value);
    return {rounded, rounded * rounded};
}

/// One bit per pair of a tile, in shared memory.
struct TileMarks {
    Words* memory;

    __device__ __forceinline__ unsigned* words() const {
        return reinterpret_cast<unsigned*>(memory);
    }
    __device__ __forceinline__ void clear() const {
        if (threadIdx.x < kTileRows) words()[threadIdx.x] = 0;
    }
    __device__ __forceinline__ void mark(int row, int column) const {
        atomicOr(words() + row, 1u << column);
    }
    __device__ __forceinline__ int of_column(int column) const {
        int count = 0;
        for (int row = 0; row < kTileRows; ++row) count += words()[row] >> column & 1;
        return count;
    }
    /// Adds the number of marks of each row and column.
    __device__ __forceinline__ void add(int* rows, int* columns) const {
        const int thread = threadIdx.x, column = thread - kTileRows;
        if (column >= kPanelFrames) return;
        const int count = column < 0 ? __popc(words()[thread]) : of_column(column);
        if (count != 0) atomicAdd(column < 0 ? rows + thread : columns + column, count);
    }
};

/// Condensed values of a band.
struct ValueSink {
    struct Local {};
    static constexpr TilePrecision kPrecision = TilePrecision::full;

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

/// Histogram, extremes, sum, and the pairs below the cutoff: a list, or each frame's number of
/// them. Sums are of integers, so that their order does not matter.
struct CountSink {
    static constexpr TilePrecision kPrecision = TilePrecision::counted;
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
    int* neighbours;  ///< [frame]; null: pairs are listed

    __device__ __forceinline__ void open(Words* memory) const {
        auto* const bins = reinterpret_cast<unsigned*>(memory);
        for (int n = threadIdx.x; n < kSharedBins; n += kTileThreads) bins[n] = 0;
        if (neighbours != nullptr) marks(memory).clear();
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
                                          const TilePosition& position) const {
        if (neighbours != nullptr)
            marks(memory).add(neighbours + position.row, neighbours + position.column);
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
        if (!is_near(value)) return;
        if (neighbours == nullptr) return list(i, j, value);
        atomicAdd(neighbours + i, 1);
        atomicAdd(neighbours + j, 1);
    }

private:
    __device__ __forceinline__ static TileMarks marks(Words* memory) {
        return {memory + kSharedBins / 4};
    }
    __device__ __forceinline__ bool is_near(float value) const {
        return edges.cutoff > 0 && value < edges.cutoff;
    }
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
        if (!is_near(value)) return;
        if (neighbours != nullptr)
            marks(memory).mark(row, column);
        else
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
        const unsigned long long at = atomicAdd(near_count, 1ULL);
        if (at < static_cast<unsigned long long>(near_capacity))
            near[at] = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), value};
    }
};

/// Counts each frame's neighbours. Values may be inexact, since only their side of the cutoff
/// matters.
struct NeighbourSink {
    struct Local {};
    static constexpr TilePrecision kPrecision = TilePrecision::coarse;

    int* counts;  ///< [frame]
    CoarseCutoff cutoff;

    __device__ __forceinline__ void open(Words* memory) const { TileMarks{memory}.clear(); }
    template <class Position>
    __device__ __forceinline__ bool put(Local&, Words* memory, const Position&, int row, int column,
                                        const Solved& solved) const {
        const Side side = cutoff.side_of(solved);
        if (side == Side::below) TileMarks{memory}.mark(row, column);
        return side != Side::unknown;
    }
    template <class Position>
    __device__ __forceinline__ void put_exact(Local&, Words* memory, const Position&, int row,
                                              int column, float value) const {
        if (value < cutoff.value) TileMarks{memory}.mark(row, column);
    }
    __device__ __forceinline__ void close(const Local&, Words* memory,
                                          const TilePosition& position) const {
        TileMarks{memory}.add(counts + position.row, counts + position.column);
    }
    __device__ __forceinline__ void put_recomputed(Index i, Index j, float value) const {
        if (!(value < cutoff.value)) return;
        atomicAdd(counts + i, 1);
        atomicAdd(counts + j, 1);
    }
};

/// Sum and maximum of each frame's values with the others of a list, in which doubtful pairs are
/// numbered. Sums are of integers, so that their order does not matter.
struct SumSink {
    struct Local {};
    static constexpr TilePrecision kPrecision = TilePrecision::full;
    static constexpr bool kIsTriangle = true;

    Edges edges;
    float scale;  ///< a power of two by which values are multiplied before they are rounded
    unsigned long long* sums;
    unsigned* maxima;  ///< bits of floats, which are not negative

    __device__ __forceinline__ void open(Words* memory) const {
        for (int n = threadIdx.x; n < 2 * kSides; n += kTileThreads) sums_of(memory)[n] = 0;
    }
    __device__ __forceinline__ bool put(Local& local, Words* memory, const ListPosition& position,
                                        int row, int column, const Solved& solved) const {
        const float value = sqrtf(solved.square);
        if (!edges.is_certain(value, solved.error)) return false;
        put_exact(local, memory, position, row, column, value);
        return true;
    }
    __device__ __forceinline__ void put_exact(Local&, Words* memory, const ListPosition&, int row,
                                              int column, float value) const {
        add(sums_of(memory), maxima_of(memory), row, value);
        add(sums_of(memory), maxima_of(memory), kTileRows + column, value);
    }
    __device__ __forceinline__ void close(const Local&, Words* memory,
                                          const ListPosition& position) const {
        const int side = threadIdx.x;
        if (side >= kSides || maxima_of(memory)[side] == 0) return;
        const Index n = side < kTileRows ? position.row + side : position.column + side - kTileRows;
        atomicAdd(sums + n, sums_of(memory)[side]);
        atomicMax(maxima + n, maxima_of(memory)[side]);
    }
    __device__ __forceinline__ void put_recomputed(Index i, Index j, float value) const {
        add(sums, maxima, i, value);
        add(sums, maxima, j, value);
    }

private:
    static constexpr int kSides = kTileRows + kPanelFrames;
    __device__ __forceinline__ static unsigned long long* sums_of(Words* memory) {
        return reinterpret_cast<unsigned long long*>(memory);
    }
    __device__ __forceinline__ static unsigned* maxima_of(Words* memory) {
        return reinterpret_cast<unsigned*>(sums_of(memory) + kSides);
    }
    __device__ __forceinline__ void add(unsigned long long* to, unsigned* bounds, Index n,
                                        float value) const {
        atomicAdd(to + n, static_cast<unsigned long long>(__float2uint_rn(value * scale)));
        atomicMax(bounds + n, __float_as_uint(value));
    }
};

}  // namespace pleat::rmsd::cuda
