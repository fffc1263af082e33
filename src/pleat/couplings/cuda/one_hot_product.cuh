// One-hot products: one-hot letters times a dense matrix on tensor cores, without storing the
// one-hot.
#pragma once

#include <cstdint>

#include "pleat/core/view.h"
#include "pleat/couplings/cuda/cuda_layout.h"

namespace pleat::cuda {
class CudaGpu;
}

namespace pleat::couplings::cuda {

// A letter is stored as the float16 number with these bits plus its code (1.0 and just above); no
// letter as 0. One comparison of two such pairs makes two elements of a one-hot.
constexpr std::uint32_t kLetterBits = 0x3C00;

// Dense operands are stored in tiles of 128 columns by 64 of the inner index, laid out for shared
// memory: in rows of 128 bytes, pieces of 16 bytes are permuted by the low bits of the row number
// ("128-byte swizzle"), so that copying and reading have no bank conflicts. One copy moves one
// tile.
constexpr int kDenseTileColumns = 128, kDenseTile = kDenseTileColumns * kTileDepth;

__host__ __device__ __forceinline__ int offset_in_tile(int column, int k) {
    return column * kTileDepth + ((k / 8 ^ column % 8) * 8 + k % 8);
}

__host__ __device__ __forceinline__ Index dense_index(Index column, Index k, Index depth_tiles) {
    return (column / kDenseTileColumns * depth_tiles + k / kTileDepth) * kDenseTile +
           offset_in_tile(static_cast<int>(column % kDenseTileColumns),
                          static_cast<int>(k % kTileDepth));
}

// Letters are stored in tiles of 64 sequences: [tile][column][sequence of the tile].
struct LetterTiles {
    const std::uint16_t* data;
    int columns;  // of a tile
    int row;      // letters of a column that count, a multiple of 4
};

/// transposed false: out[c][n] = factor * sum_j sum_p dense_p[c][(j, x_j^n)]: rows are sequences n.
/// true: out[(j,b)][c] = factor * sum_n sum_p [x_j^n = b] dense_p[c][n]: rows are flat indices
/// (j,b). The float16 numbers p of a value follow each other along the inner index. Products are
/// exact, sums are float.
struct OneHotProduct {
    LetterTiles letters;
    const __half* dense;
    int parts;
    Index depth_tiles;    // for one float16 number per value
    Index first_row;      // of the letters; a multiple of kTileRows
    Index rows, columns;  // of the result: multiples of kTileRows and kTileColumns
    float* out;
    Index pitch;  // of `out`, whose first element is that of first_row
    float factor;
    bool transposed;
};

/// For compute capability 9.0 only; one_hot_portable.cuh is for every GPU.
void multiply_on_hopper(const pleat::cuda::CudaGpu& gpu, const OneHotProduct& product);

// Maximum number of columns of 64 letters in a stage, for alphabets with 4 letters per column.
constexpr int kMaxStaged = 34;

// The number of columns whose letters a stage needs. If the rows are sequences, a stage has two
// tiles of 64 sequences.
template <bool kTransposed>
__device__ __forceinline__ int staged_columns(int row) {
    return (kTransposed ? kTileRows - 1 : kTileDepth - 1) / row + 2;
}

// This thread's elements of the one-hot whose rows are (column, letter): rows g and g + 8.
struct LetterRows {
    int column[2];
    std::uint32_t code[2];

    __device__ LetterRows(const OneHotProduct& p, Index row_tile, int row_in_tile) {
        const Index first = p.first_row + row_tile * kTileRows;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const Index row = first + row_in_tile + 8 * h;
            column[h] = static_cast<int>(row / p.letters.row - first / p.letters.row);
            code[h] = (kLetterBits + static_cast<std::uint32_t>(row % p.letters.row)) * 0x10001u;
        }
    }
    __device__ void make(const std::uint16_t* letters, std::uint32_t (&a)[4][4]) {
        const int t = threadIdx.x % 4;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
#pragma unroll
            for (int r = 0; r < 4;
                 ++r) {  // r & 1: row g or g + 8; r / 2: inner index 2 t or 2 t + 8
                const auto x = *reinterpret_cast<const std::uint32_t*>(
                    letters + column[r & 1] * kTileDepth + k * 16 + r / 2 * 8 + 2 * t);
                a[k][r] = pleat::cuda::equal_halves(x, code[r & 1]);
            }
        }
    }
};

// The same for the one-hot whose rows are sequences. The inner index runs over (column, letter), so
// each of this thread's eight pairs of letters advances by 64 in each step. To save registers a
// word holds the offset of the pair's staged letters in its upper half and the code of its first
// letter in its lower half.
struct SequenceRows {
    static constexpr std::uint32_t kNextColumn = kTileDepth << 16;
    std::uint32_t pair_state[8];
    int first = 0, row, advance, sequence;

    __device__ SequenceRows(const OneHotProduct& p, Index, int row_in_tile)
        : row(p.letters.row), advance(kTileDepth % row) {
        sequence = row_in_tile / kTileDepth * staged_columns<false>(row) * kTileDepth +
                   row_in_tile % kTileDepth;
#pragma unroll
        for (int q = 0; q < 8; ++q) {
            const int k = q * 8 + 2 * static_cast<int>(threadIdx.x % 4);
            pair_state[q] = k / row * kNextColumn + kLetterBits + k % row;
        }
    }
    __device__ void make(const std::uint16_t* letters, std::uint32_t (&a)[4][4]) {
#pragma unroll
        for (int q = 0; q < 8; ++q) {
            const std::uint16_t* at = letters + (pair_state[q] >> 16) + sequence;
            const std::uint32_t pair = __byte_perm(pair_state[q], 0, 0x1010) + 0x10000u;
            a[q / 2][q % 2 * 2] = pleat::cuda::equal_halves(__byte_perm(at[0], 0, 0x1010), pair);
            a[q / 2][q % 2 * 2 + 1] =
                pleat::cuda::equal_halves(__byte_perm(at[8], 0, 0x1010), pair);
        }
        first += advance;
        const bool next = first >= row;
        first -= next ? row : 0;
        const std::uint32_t step = advance - (next ? kNextColumn : 0);
#pragma unroll
        for (int q = 0; q < 8; ++q) {
            const bool wrapped = (pair_state[q] & 0xFFFF) + advance >= kLetterBits + row;
            pair_state[q] += step + (wrapped ? kNextColumn - row : 0);
        }
    }
};

// Each element has one writer, so adding in memory keeps the order of sums fixed.
__device__ __forceinline__ void store_one(float* to, bool add, float value) {
    if (add)
        atomicAdd(to, value);
    else
        *to = value;
}

__device__ __forceinline__ void store_pair(float* to, bool add, float first, float second) {
    if (add) {
        atomicAdd(to, first);
        atomicAdd(to + 1, second);
    } else {
        *reinterpret_cast<float2*>(to) = {first, second};
    }
}

// Writes or adds rows `row` and `row` + 8 of a fragment, and two of every eight columns from
// `column` on. Tensor cores truncate sums instead of rounding them, so the products of the two
// float16 numbers are summed separately and added here.
template <bool kTransposed, int kColumns>
__device__ __forceinline__ void store(const OneHotProduct& p, Index row, Index column, bool add,
                                      const float (&sum)[kColumns / 2]) {
#pragma unroll
    for (int k = 0; k < kColumns / 8; ++k) {
        const float v[4] = {sum[4 * k] * p.factor, sum[4 * k + 1] * p.factor,
                            sum[4 * k + 2] * p.factor, sum[4 * k + 3] * p.factor};
        if constexpr (kTransposed) {
            float* to = p.out + row * p.pitch + column + k * 8;
            store_pair(to, add, v[0], v[1]);
            store_pair(to + 8 * p.pitch, add, v[2], v[3]);
        } else {
            float* to = p.out + (column + k * 8) * p.pitch + row;
#pragma unroll
            for (int n = 0; n < 4; ++n) store_one(to + n % 2 * p.pitch + n / 2 * 8, add, v[n]);
        }
    }
}

}  // namespace pleat::couplings::cuda
