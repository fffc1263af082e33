// One-hot products on any GPU since compute capability 8.0 (mma), and on the host in its place.
#pragma once

#include <type_traits>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/couplings/cuda/one_hot_product.cuh"

namespace pleat::couplings::cuda {

namespace portable {

using pleat::cuda::copy_async;
using pleat::cuda::Sides;

constexpr int kThreads = 256, kStages = 3;  // eight warps, each 16 rows by 128 columns
constexpr int kLetters = kMaxStaged * kTileDepth;

struct __align__(128) Stage {
    __half dense[kDenseTile];
    std::uint16_t letters[kLetters];
};

template <bool kTransposed>
__device__ __forceinline__ void load_stage(const OneHotProduct& p, int part, Stage& stage,
                                           Index row_tile, Index column_tile, int step) {
    const __half* dense =
        p.dense + ((column_tile * p.parts + part) * p.depth_tiles + step) * kDenseTile;
    for (int k = threadIdx.x * 8; k < kDenseTile; k += kThreads * 8) {
        copy_async(stage.dense + k, dense + k);
    }
    constexpr int kTiles = kTransposed ? 1 : kTileRows / kTileDepth;
    const Index first_row = p.first_row + row_tile * kTileRows;
    const Index column = (kTransposed ? first_row : Index{step} * kTileDepth) / p.letters.row;
    const int count = staged_columns<kTransposed>(p.letters.row) * kTileDepth;
    for (int tile = 0; tile < kTiles; ++tile) {
        const Index sequences = kTransposed ? step : first_row / kTileDepth + tile;
        const std::uint16_t* from =
            p.letters.data + (sequences * p.letters.columns + column) * kTileDepth;
        for (int k = threadIdx.x * 8; k < count; k += kThreads * 8) {
            copy_async(stage.letters + tile * count + k, from + k);
        }
    }
}

template <bool kTransposed>
__global__ void __launch_bounds__(kThreads, 1)
    multiply_one_hot(const __grid_constant__ OneHotProduct p, int part) {
    PLEAT_DYNAMIC_SHARED(Stage, stages);
    const Index row_tiles = p.rows / kTileRows;
    const Index row_tile = blockIdx.x % row_tiles, column_tile = blockIdx.x / row_tiles;
    const int lane = threadIdx.x % 32, row_in_tile = threadIdx.x / 32 * 16 + lane / 4;
    const int steps = static_cast<int>(p.depth_tiles);
    for (int step = 0; step < kStages - 1; ++step) {
        if (step < steps)
            load_stage<kTransposed>(p, part, stages[step], row_tile, column_tile, step);
        pleat::cuda::end_copies();
    }
    using Letters = std::conditional_t<kTransposed, LetterRows, SequenceRows>;
    Letters letters(p, row_tile, row_in_tile);
    float sum[kDenseTileColumns / 2] = {};
    for (int step = 0; step < steps; ++step) {
        pleat::cuda::wait_for_copies<kStages - 2>();
        __syncthreads();
        if (const int next = step + kStages - 1; next < steps)
            load_stage<kTransposed>(p, part, stages[next % kStages], row_tile, column_tile, next);
        pleat::cuda::end_copies();
        const Stage& stage = stages[step % kStages];
        std::uint32_t a[4][4];
        letters.make(stage.letters, a);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
#pragma unroll
            for (int n = 0; n < kDenseTileColumns / 16; ++n) {
                std::uint32_t b[4];
                pleat::cuda::load_matrices<false>(
                    b, stage.dense + offset_in_tile(n * 16 + lane / 16 * 8 + lane % 8,
                                                    k * 16 + lane / 8 % 2 * 8));
                pleat::cuda::multiply_halves(sum + 8 * n, a[k], b[0], b[1]);
                pleat::cuda::multiply_halves(sum + 8 * n + 4, a[k], b[2], b[3]);
            }
        }
    }
    store<kTransposed, kDenseTileColumns>(p, row_tile * kTileRows + row_in_tile,
                                          column_tile * kDenseTileColumns + lane % 4 * 2, part > 0,
                                          sum);
}

}  // namespace portable

/// Launches the product on a `Gpu`.
template <class Gpu>
void multiply_portably(const Gpu& gpu, const OneHotProduct& product) {
    using namespace portable;
    const auto kernel = product.transposed ? &multiply_one_hot<true> : &multiply_one_hot<false>;
    const Index tiles = product.rows / kTileRows * (product.columns / kDenseTileColumns);
    for (int part = 0; part < product.parts; ++part) {
        gpu.launch("multiply one-hot letters", kernel, Sides{tiles}, Sides{kThreads},
                   kStages * sizeof(Stage), product, part);
    }
}

}  // namespace pleat::couplings::cuda
