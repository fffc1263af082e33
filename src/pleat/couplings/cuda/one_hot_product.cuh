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

}  // namespace pleat::couplings::cuda
