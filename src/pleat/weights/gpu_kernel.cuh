// GPU kernel of the weights: the host packs bit planes, the GPU compares tiles of 64 x 64 sequences
// in shared memory, 8 x 4 per thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/view.h"
#include "pleat/weights/kernel.h"

namespace pleat::weights::cuda {

constexpr int kTile = 64;          ///< sequences on a tile's side
constexpr int kTileThreads = 128;  ///< four warps of 32 x 32 pairs
constexpr int kRows = 8, kColumns = 4;
constexpr int kChunkWords = 4;  ///< 64-bit words in shared memory at a time

using Count = unsigned long long;  // what atomicAdd takes

/// Distinct sequences on the GPU, filled up to whole tiles with sequences of 0 copies.
struct PackedSequences {
    const uint4* bits;    ///< BitPlanes::bits, two 64-bit words at a time
    const Count* copies;  ///< [sequence]
    Index tiles;          ///< on a side of the square of all pairs
    Index words;          ///< of 64 columns
    int half_words;       ///< of 32 columns; those behind hold no column
};

/// Copies `count` words of a tile's sequences to shared memory, [half word, plane, sequence].
template <int kPlanes>
__device__ __forceinline__ void stage(const PackedSequences& packed, Index tile, Index first_word,
                                      int count, std::uint32_t* to) {
    constexpr int kGroupPieces = 4, kGroups = kTile / 8;  // a group is eight sequences
    constexpr int kTilePieces = kGroupPieces * kGroups;
    const int pieces = count * kPlanes * kTilePieces;
    for (int k = threadIdx.x; k < pieces; k += kTileThreads) {
        const int lanes = k % kTilePieces, plane_row = k / kTilePieces;  // word and plane
        const Index group = tile * kGroups + lanes / kGroupPieces;
        const Index from = (group * packed.words + first_word) * kPlanes + plane_row;
        const uint4 piece = packed.bits[from * kGroupPieces + lanes % kGroupPieces];
        const int half = plane_row / kPlanes * 2 * kPlanes + plane_row % kPlanes;
        auto* low = reinterpret_cast<uint2*>(to + half * kTile) + lanes;
        low[0] = make_uint2(piece.x, piece.z);
        low[kPlanes * kTile / 2] = make_uint2(piece.y, piece.w);
    }
}

/// Adds to `differences` the columns of `half_words` in which eight sequences at `rows` differ from
/// four at `columns`.
template <int kPlanes>
__device__ __forceinline__ void add_differences(const std::uint32_t* rows,
                                                const std::uint32_t* columns, int half_words,
                                                std::uint32_t (&differences)[kRows][kColumns]) {
#pragma unroll 1
    for (int half = 0; half < half_words; ++half) {
        std::uint32_t any[kRows][kColumns] = {};
#pragma unroll
        for (int plane = 0; plane < kPlanes; ++plane) {
            const uint4 first = *reinterpret_cast<const uint4*>(rows);
            const uint4 second = *reinterpret_cast<const uint4*>(rows + 4);
            const uint4 across = *reinterpret_cast<const uint4*>(columns);
            const std::uint32_t row[kRows] = {first.x,  first.y,  first.z,  first.w,
                                              second.x, second.y, second.z, second.w};
            const std::uint32_t column[kColumns] = {across.x, across.y, across.z, across.w};
#pragma unroll
            for (int i = 0; i < kRows; ++i) {
#pragma unroll
                for (int j = 0; j < kColumns; ++j) any[i][j] |= row[i] ^ column[j];
            }
            rows += kTile;
            columns += kTile;
        }
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
#pragma unroll
            for (int j = 0; j < kColumns; ++j) differences[i][j] += __popc(any[i][j]);
        }
    }
}

/// Sums each element of `numbers` over the lanes of a warp that differ only in the bits kFirstBit
/// ... kLastBit of their lane number, and returns the sum of element `mine`.
template <int kFirstBit, int kLastBit, int kSize>
__device__ __forceinline__ Count sum_of_element(const Count (&numbers)[kSize], int mine) {
    Count result = 0;
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
        Count sum = numbers[k];
#pragma unroll
        for (int bit = kFirstBit; bit <= kLastBit; bit *= 2) sum += __shfl_xor_sync(~0u, sum, bit);
        if (k == mine) result = sum;
    }
    return result;
}

/// The first row and the first column of a thread in the tile. The lowest three bits of the lane
/// number determine the columns, the other two the rows.
struct ThreadPosition {
    int lane, row, column;
};

__device__ __forceinline__ ThreadPosition thread_position() {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    return {lane, warp / 2 * 32 + lane / 8 * kRows, warp % 2 * 32 + lane % 8 * kColumns};
}

/// Adds the copies of near sequences to the counts of a warp's rows and, off the diagonal, columns.
__device__ __forceinline__ void add_near(const PackedSequences& packed, Index tile_row,
                                         Index tile_column, const ThreadPosition& position,
                                         std::uint32_t max_differences,
                                         const std::uint32_t (&differences)[kRows][kColumns],
                                         Count* counts) {
    bool any = false;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) any |= differences[i][j] <= max_differences;
    }
    if (!__any_sync(~0u, any)) return;

    const Index row = tile_row * kTile + position.row,
                column = tile_column * kTile + position.column;
    Count of_row[kRows] = {}, of_column[kColumns] = {};
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            if (differences[i][j] > max_differences) continue;
            of_row[i] += packed.copies[column + j];
            of_column[j] += packed.copies[row + i];
        }
    }
    const int across = position.lane % 8, down = position.lane / 8;
    const Count for_row = sum_of_element<1, 4>(of_row, across);
    const Count for_column = sum_of_element<8, 16>(of_column, down);
    atomicAdd(counts + row + across, for_row);
    // A diagonal tile contains each pair in both orders, so counting its rows suffices.
    if (tile_row != tile_column) atomicAdd(counts + column + down, for_column);
}

/// Adds to `counts` [sequence] the copies of the sequences that differ in at most
/// `max_differences` columns. The triangle of tiles row <= column is folded into a rectangle: rows
/// y and tiles - 1 - y together have tiles + 1 tiles, numbered by blockIdx.x; y is first +
/// blockIdx.y.
template <int kPlanes>
__global__ void __launch_bounds__(kTileThreads, 4)
    count_near(PackedSequences packed, std::uint32_t max_differences, Index first, Count* counts) {
    constexpr int kSharedWords = 2 * kChunkWords * kPlanes * kTile;
    __shared__ __align__(16) std::uint32_t rows[kSharedWords];
    __shared__ __align__(16) std::uint32_t columns[kSharedWords];
    const Index y = first + blockIdx.y, x = blockIdx.x;
    const bool is_upper = x < packed.tiles - y;
    const Index tile_row = is_upper ? y : packed.tiles - 1 - y;
    const Index tile_column = is_upper ? y + x : x - 1;
    if (!is_upper && tile_row == y) return;  // the middle row of an odd number has no partner

    const ThreadPosition position = thread_position();
    std::uint32_t differences[kRows][kColumns] = {};
    for (Index word = 0; word < packed.words; word += kChunkWords) {
        const int count = static_cast<int>(min(Index{kChunkWords}, packed.words - word));
        const int half_words = min(2 * count, packed.half_words - static_cast<int>(2 * word));
        if (word > 0) __syncthreads();  // until all threads have read the previous chunk
        stage<kPlanes>(packed, tile_row, word, count, rows);
        stage<kPlanes>(packed, tile_column, word, count, columns);
        __syncthreads();
        add_differences<kPlanes>(rows + position.row, columns + position.column, half_words,
                                 differences);
    }
    add_near(packed, tile_row, tile_column, position, max_differences, differences, counts);
}

using pleat::cuda::Sides;

constexpr Index kTileGroups = kTile / BitPlanes::kGroup;
/// Half words of pairs in one step: about 20 ms of an H200.
constexpr Index kStepHalfWords = Index{1} << 35;
constexpr Index kMaxGridRows = 65535;

template <class Gpu>
class GpuKernel final : public Kernel {
public:
    GpuKernel(const BitPlanes& packed, const Problem& problem, Gpu gpu)
        : gpu_(std::move(gpu)),
          distinct_(packed.distinct),
          planes_(packed.plane_count()),
          max_differences_(static_cast<std::uint32_t>(
              std::min<Index>(problem.max_differences, std::numeric_limits<std::uint32_t>::max()))),
          tiles_((packed.group_count() + kTileGroups - 1) / kTileGroups),
          words_(packed.word_count()),
          half_words_((problem.letters.extent(1) + 31) / 32),
          bits_(tiles_ * kTile * words_ * planes_),
          copies_(tiles_ * kTile),
          counts_(tiles_ * kTile) {
        bits_.upload(packed.bits.data(), 0, packed.bits.size());
        copies_.upload(packed.multiplicity.data(), 0, packed.multiplicity.size());
        const Index row_half_words = (tiles_ + 1) * kTile * kTile * half_words_;
        rows_per_step_ =
            std::clamp(kStepHalfWords / std::max(Index{1}, row_half_words), Index{1}, kMaxGridRows);
    }

    Index step_count() const override {
        return (folded_rows() + rows_per_step_ - 1) / rows_per_step_;
    }

    void step(Index index) override {
        const Index first = index * rows_per_step_;
        const Index last = std::min(first + rows_per_step_, folded_rows());
        switch (planes_) {
            case 3: count<3>(first, last); break;
            case 5: count<5>(first, last); break;
            default: count<8>(first, last);
        }
    }

    std::vector<Index> neighbours() const override {
        std::vector<std::uint64_t> counts(static_cast<std::size_t>(counts_.size()));
        counts_.download(counts.data());
        std::vector<Index> result;
        result.reserve(distinct_.size());
        for (const Index u : distinct_)
            result.push_back(static_cast<Index>(counts[static_cast<std::size_t>(u)]));
        return result;
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    Index folded_rows() const { return (tiles_ + 1) / 2; }

    template <int kPlanes>
    void count(Index first, Index last) {
        const PackedSequences packed = {reinterpret_cast<const uint4*>(bits_.data()),
                                        reinterpret_cast<const Count*>(copies_.data()), tiles_,
                                        words_, static_cast<int>(half_words_)};
        gpu_.launch("weight the sequences", &count_near<kPlanes>, Sides{tiles_ + 1, last - first},
                    Sides{kTileThreads}, 0, packed, max_differences_, first,
                    reinterpret_cast<Count*>(counts_.data()));
        gpu_.wait();  // so that progress and cancelling refer to finished steps
    }

    Gpu gpu_;
    std::vector<Index> distinct_;  ///< [sequence]: its distinct sequence
    int planes_;
    std::uint32_t max_differences_;
    Index tiles_, words_, half_words_;
    Index rows_per_step_ = 1;
    Array<std::uint64_t> bits_;    ///< [group, word, plane, sequence in the group]
    Array<std::uint64_t> copies_;  ///< [distinct sequence]
    Array<std::uint64_t> counts_;  ///< [distinct sequence]
};

}  // namespace pleat::weights::cuda
