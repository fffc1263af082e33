// Alignment steps on a GPU: copies letters to tiles and counts them by weight.
#pragma once

#include <cstdint>

#include "pleat/core/view.h"
#include "pleat/couplings/cuda/device_shape.cuh"

namespace pleat::couplings::cuda {

constexpr int kCountThreads = 256;

// grid (columns, tiles of 256 sequences): copies codes [sequence][column] to tiles of letters.
static __global__ void tile_letters(Shape shape, const std::uint8_t* rows, Index tile_columns,
                                    std::uint16_t* tiles) {
    const Index n = static_cast<Index>(blockIdx.y) * blockDim.x + threadIdx.x, i = blockIdx.x;
    if (n >= shape.sequences) return;
    tiles[(n / kTileDepth * tile_columns + i) * kTileDepth + n % kTileDepth] =
        static_cast<std::uint16_t>(kLetterBits + rows[n * shape.columns + i]);
}

// grid (columns): weighted counts of the letters of a column. Each thread sums in its own row, so
// that the order of sums is fixed.
static __global__ void __launch_bounds__(kCountThreads)
    count_letters(Shape shape, const std::uint16_t* tiles, Index tile_columns, const float* weights,
                  double* sums) {
    __shared__ float counts[kMaxLetterCodes][kCountThreads];
    for (int a = 0; a < shape.letters; ++a) counts[a][threadIdx.x] = 0;
    for (Index n = threadIdx.x; n < shape.sequences; n += kCountThreads) {
        const int letter =
            tiles[(n / kTileDepth * tile_columns + blockIdx.x) * kTileDepth + n % kTileDepth] -
            static_cast<int>(kLetterBits);
        counts[letter][threadIdx.x] += weights[n];
    }
    __syncthreads();
    if (static_cast<int>(threadIdx.x) >= shape.letters) return;
    double sum = 0;
    for (int k = 0; k < kCountThreads; ++k) sum += counts[threadIdx.x][k];
    sums[static_cast<Index>(blockIdx.x) * shape.letters + threadIdx.x] = sum;
}

}  // namespace pleat::couplings::cuda
