// Gram matrix of one column's letters on tensor cores: sums of p p^T over sequences.
#pragma once

#include <cstdint>

#include "pleat/couplings/cuda/device_shape.cuh"

namespace pleat::couplings::cuda {

// Shared memory of a tile: p as the sum of two float16 numbers, [number][sequence][letter]; later
// the sums of the warps. ldmatrix reads the rows of 48 bytes without bank conflicts.
constexpr int kGramWarps = kSequenceTile / 32, kGramTiles = 5, kGramSums = kGramTiles * 128;
union GramShared {
    __half p[2][kSequenceTile][kMaxLetterCodes];
    float sums[kGramWarps][kGramSums];
};

// The sums of one warp over its sequences: tiles of 16 by 8 letters, rows 0 to 15 by columns 0 to
// 15 (tiles 0 and 1) and rows 16 to 31 by columns 0 to 23 (tiles 2 to 4). The product high * high +
// high
// * low + low * high keeps 21 bits, which the variance of a conserved letter needs.
struct Gram {
    float sum[kGramTiles][4];

    // All threads: adds the outer product of each thread's p.
    __device__ void add(GramShared& shared, const float (&p)[kMaxLetterCodes - 1]) {
        __align__(16) __half high[kMaxLetterCodes], low[kMaxLetterCodes];
#pragma unroll
        for (int a = 0; a < kMaxLetterCodes; ++a) {
            const float x = a < kMaxLetterCodes - 1 ? p[a] : 0.0f;
            high[a] = __float2half_rn(x);
            low[a] = __float2half_rn(x - __half2float(high[a]));
        }
        __syncthreads();  // all threads have read the previous tile
#pragma unroll
        for (int k = 0; k < kMaxLetterCodes / 8; ++k) {
            reinterpret_cast<uint4*>(shared.p[0][threadIdx.x])[k] =
                reinterpret_cast<const uint4*>(high)[k];
            reinterpret_cast<uint4*>(shared.p[1][threadIdx.x])[k] =
                reinterpret_cast<const uint4*>(low)[k];
        }
        __syncthreads();
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        for (int first = warp * 32; first < warp * 32 + 32; first += 16) {
            std::uint32_t a[2][2][4];  // [number][letters 0 to 15, 16 to 31]
            const int n = first + lane / 16 * 8 + lane % 8, letter = lane / 8 % 2 * 8;
#pragma unroll
            for (int part = 0; part < 2; ++part) {
                pleat::cuda::load_matrices<true>(a[part][0], &shared.p[part][n][letter]);
                // There are no letters from 24 on; their rows, which nobody reads, repeat earlier
                // ones.
                pleat::cuda::load_matrices<true>(a[part][1], &shared.p[part][n][16]);
            }
            add_parts(a[0], a[0]);
            add_parts(a[0], a[1]);
            add_parts(a[1], a[0]);
        }
    }

    // Adds the sums of all warps and writes those of letters b <= a < free.
    __device__ void store(GramShared& shared, int free, float* products) {
        __syncthreads();
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
        for (int k = 0; k < kGramTiles * 4; ++k)
            shared.sums[warp][k / 4 * 128 + k % 4 * 32 + lane] = sum[k / 4][k % 4];
        __syncthreads();
        for (int k = threadIdx.x; k < kGramSums; k += kSequenceTile) {
            const int tile = k / 128, in_lane = k / 32 % 4, of = k % 32;
            const int a = (tile < 2 ? 0 : 16) + of / 4 + in_lane / 2 * 8;
            const int b = (tile < 2 ? tile : tile - 2) * 8 + of % 4 * 2 + in_lane % 2;
            if (b > a || a >= free) continue;
            float total = 0;
            for (int w = 0; w < kGramWarps; ++w) total += shared.sums[w][k];
            products[a * (a + 1) / 2 + b] = total;
        }
    }

private:
    // The fragments of rows are also those of columns: registers 0 and 2 hold eight letters, 1 and
    // 3 the next eight.
    __device__ void add_parts(const std::uint32_t (&rows)[2][4],
                              const std::uint32_t (&columns)[2][4]) {
        using pleat::cuda::multiply_halves;
        multiply_halves(sum[0], rows[0], columns[0][0], columns[0][2]);
        multiply_halves(sum[1], rows[0], columns[0][1], columns[0][3]);
        multiply_halves(sum[2], rows[1], columns[0][0], columns[0][2]);
        multiply_halves(sum[3], rows[1], columns[0][1], columns[0][3]);
        multiply_halves(sum[4], rows[1], columns[1][0], columns[1][2]);
    }
};

}  // namespace pleat::couplings::cuda
