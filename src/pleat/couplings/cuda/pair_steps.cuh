// Pair steps on a GPU: scaling, dense operands, gradients and scores of pairs of columns.
#pragma once

#include "pleat/core/view.h"
#include "pleat/couplings/cuda/device_shape.cuh"

namespace pleat::couplings::cuda {

// One thread per element of a 21 x 21 block, so that terms of its letters are computed once.
constexpr int kPairThreads = 448;
constexpr int kMaxBlock = kMaxLetterCodes * kMaxLetterCodes;

// The scale by which stored couplings are divided; see Problem::scaled.
struct Spread {
    const float* v;  // [column][letters]
    float offset, factor;
    __device__ float scale(float a, float b) const { return rsqrtf(offset + factor * a * b); }
};

__device__ __forceinline__ Index pair_offset(Index i, Index j, Index columns, int letters) {
    return (i * (2 * columns - i - 1) / 2 + j - i - 1) * letters * letters;
}

// grid (columns, count), CTA (j, k): multiplies the couplings of the pair (first + k, j) by their
// scale, or divides them by it. `to` begins with the first pair of column `first`.
static __global__ void rescale(DeviceShape shape, const float* pairs, Index first, Spread spread,
                               bool divide, float* to) {
    const Index i = first + blockIdx.y, j = blockIdx.x;
    if (i >= j) return;
    const int q = shape.letters;
    const Index from = pair_offset(i, j, shape.columns, q);
    float* out = to + from - pair_offset(first, first + 1, shape.columns, q);
    for (int k = threadIdx.x; k < q * q; k += blockDim.x) {
        const float scale = spread.scale(spread.v[i * q + k / q], spread.v[j * q + k % q]);
        out[k] = divide ? pairs[from + k] / scale : pairs[from + k] * scale;
    }
}

// The operand of the logits for a block of columns i, relative to the gap g:
// dense[(i,a)][(j,b)] = e_ij(a,b) - e_ij(a,g) - e_ij(g,b) + e_ij(g,g), and the term that this
// omits, sum_j e_ij(a,g) - e_ij(g,g) over the CTA's columns j.
struct DenseBlock {
    Index first_column;  // of the block
    DenseOperand dense;  // [block's (i,a)][(j,b)]
    float* gap_sums;     // [tile of j][width of the block]
    Index width;
    float scale;  // of the operand, so that float16 keeps small couplings
    int* too_large;
};

// Couplings of column i with columns j0, j0 + 1, ..., unscaled: e[j][a * q + b], a of i and b of j.
// Blocks of pairs with i > j are transposed.
template <int kLetters>
__device__ __forceinline__ void load_couplings(const DeviceShape& shape, const float* pairs,
                                               const Spread& spread, Index i, Index j0, int count,
                                               float (*e)[kMaxBlock]) {
    const int q = kLetters > 0 ? kLetters : shape.letters;
    __shared__ const float *block[kPairColumns], *frequency[kPairColumns];  // of each j, or null
    if (threadIdx.x < kPairColumns) {
        const Index j = j0 + threadIdx.x;
        const bool is_pair = static_cast<int>(threadIdx.x) < count && i != j;
        block[threadIdx.x] =
            is_pair ? pairs + pair_offset(min(i, j), max(i, j), shape.columns, q) : nullptr;
        frequency[threadIdx.x] = is_pair ? spread.v + j * q : nullptr;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < q * q; k += kPairThreads) {
        const int a = k / q, b = k % q;  // of the pair's first column and second
        float x[kPairColumns], v[kPairColumns];
        // Keeps several loads in flight.
#pragma unroll
        for (int n = 0; n < kPairColumns; ++n) {
            const bool is_pair = block[n] != nullptr;
            x[n] = is_pair ? __ldg(block[n] + k) : 0.0f;
            v[n] = is_pair ? __ldg(frequency[n] + (i < j0 + n ? b : a)) : 0.0f;
        }
        const float above = __ldg(spread.v + i * q + a), below = __ldg(spread.v + i * q + b);
#pragma unroll
        for (int n = 0; n < kPairColumns; ++n) {
            const bool turned = i > j0 + n;
            e[n][turned ? b * q + a : k] = x[n] * spread.scale(turned ? below : above, v[n]);
        }
    }
}

// grid (columns of the block, tiles of 8 columns j). A thread makes pieces of 8 of the inner index;
// 8 columns are a whole number of pieces. kLetters 0: any number of letters.
template <int kLetters>
__global__ void __launch_bounds__(kPairThreads, 3)
    build_dense(DeviceShape shape, const float* pairs, Spread spread, DenseBlock block) {
    const int q = kLetters > 0 ? kLetters : shape.letters, free = q - 1;
    const int row = kLetters > 0 ? (free + 3) / 4 * 4 : shape.row;
    const Index i = block.first_column + blockIdx.x, j0 = blockIdx.y * Index{kPairColumns};
    const int count = static_cast<int>(min(Index{kPairColumns}, shape.columns - j0));
    __shared__ float e[kPairColumns + 1][kMaxBlock];  // one more, read by the last piece
    load_couplings<kLetters>(shape, pairs, spread, i, j0, count, e);
    __syncthreads();
    const int pieces = kPairColumns * row / 8;  // an even number
    float largest = 0;
    for (int k = threadIdx.x; k < free * pieces; k += kPairThreads) {
        // Neighbouring threads make two pieces of one letter, then other letters, to read shared
        // memory from many banks and to write 32 bytes at a time.
        const int a = k / 2 % free, first = (k / 2 / free * 2 + k % 2) * 8;
        float piece[8];
#pragma unroll
        for (int half = 0; half < 2;
             ++half) {  // rows are multiples of 4, so four letters are in one column
            const int j = (first + 4 * half) / row, b = (first + 4 * half) % row;
            const float *of_a = e[j] + a * q, *of_gap = e[j] + free * q;
            const float common = of_a[free] - of_gap[free];  // the same for all letters b
#pragma unroll
            for (int n = 0; n < 4; ++n) {
                const float value = block.scale * ((of_a[b + n] - of_gap[b + n]) - common);
                piece[4 * half + n] = j < count && b + n < free ? value : 0.0f;
                largest = fmaxf(largest, fabsf(piece[4 * half + n]));
            }
        }
        if (j0 * row + first < shape.depth)
            block.dense.put_piece(Index{blockIdx.x} * row + a, j0 * row + first, piece);
    }
    if (largest > kLargestHalf) *block.too_large = 1;
    if (static_cast<int>(threadIdx.x) < free) {
        float sum = 0;
        for (int j = 0; j < count; ++j) sum += e[j][threadIdx.x * q + free] - e[j][free * q + free];
        block.gap_sums[blockIdx.y * block.width + Index{blockIdx.x} * row + threadIdx.x] = sum;
    }
}

// The products of the residuals of one block of columns with the letters of another block.
struct ProductBlock {
    const float* data;  // [(j,b) of the letters' block][(i,a) of the residuals' block]
    Index pitch, first_letter_column, first_residual_column;

    __device__ const float* row(Index j, int b, int row, Index i) const {
        return data + ((j - first_letter_column) * row + b) * pitch +
               (i - first_residual_column) * row;
    }
};

// The inputs and outputs of finish_gradient() for the pairs (i, j) of two blocks of columns.
struct GradientStep {
    ProductBlock of_i, of_j;  // residuals of i with letters of j, and the other way round
    const float* marginals;   // sums of the residuals over all sequences [(i,a)]
    const float* x;
    float* gradient;  // pairs of the vectors
    float lambda;
    double2* sums;  // [tile of j][i]: squared norms of gradient and point, unscaled
};

// Products of one pair [a of i][b of j] with the gap last, in rows of 25, so that reading rows and
// columns has no bank conflicts.
constexpr int kBlockPitch = kMaxLetterCodes + 1;
using PairBlock = float[kMaxLetterCodes * kBlockPitch];

// Computes the entries of the gap: the residuals of a column sum to zero over its letters, and over
// the letters of another column to their sums over all sequences. One warp completes one block;
// `letter` and `residual` are the distances between neighbouring letters and residuals in it.
__device__ __forceinline__ void complete_gap(float* p, int letter, int residual, int free,
                                             const float* marginals) {
    const int lane = threadIdx.x % 32;
    if (lane < free) {
        float sum = 0;
        for (int k = 0; k < free; ++k) sum += p[k * letter + lane * residual];
        p[free * letter + lane * residual] = marginals[lane] - sum;
    }
    __syncwarp();
    if (lane <= free) {
        float sum = 0;
        for (int k = 0; k < free; ++k) sum += p[lane * letter + k * residual];
        p[lane * letter + free * residual] = -sum;
    }
}

__device__ __forceinline__ float4 load_four(const float* from) {
    return __ldg(reinterpret_cast<const float4*>(from));
}

// Loads the products of column i with `count` columns j > i: first those of the residuals of i, in
// rows of the letters of j, then those of the residuals of j, in rows of the letters of i.
template <int kLetters>
__device__ __forceinline__ void load_products(const DeviceShape& shape, const GradientStep& step,
                                              Index i, Index j0, int count,
                                              PairBlock (*p)[kPairColumns]) {
    const int free = (kLetters > 0 ? kLetters : shape.letters) - 1;
    const int row = kLetters > 0 ? (free + 3) / 4 * 4 : shape.row, fours = row / 4;
    const int fours_in_all = count * free * fours;
#pragma unroll 2
    for (int k = threadIdx.x; k < fours_in_all; k += kPairThreads) {
        const int a = k % fours * 4, b = k / fours % free, j = k / fours / free;
        if (j0 + j <= i) continue;
        const float4 x = load_four(step.of_i.row(j0 + j, b, row, i) + a);
        float* to = p[0][j] + a * kBlockPitch + b;
        to[0] = x.x;
        to[kBlockPitch] = x.y;
        to[2 * kBlockPitch] = x.z;
        to[3 * kBlockPitch] = x.w;
    }
#pragma unroll 2
    for (int k = threadIdx.x; k < fours_in_all; k += kPairThreads) {
        const int b = k % fours * 4, j = k / fours % count, a = k / fours / count;
        if (j0 + j <= i) continue;
        const float4 x = load_four(step.of_j.row(i, a, row, j0 + j) + b);
        float* to = p[1][j] + a * kBlockPitch + b;
        to[0] = x.x;
        to[1] = x.y;
        to[2] = x.z;
        to[3] = x.w;
    }
    __syncthreads();
    for (int k = threadIdx.x / 32; k < 2 * count; k += kPairThreads / 32) {
        const Index j = j0 + k / 2;
        if (j <= i) continue;
        if (k % 2 == 0) {
            complete_gap(p[0][k / 2], 1, kBlockPitch, free, step.marginals + i * row);
        } else {
            complete_gap(p[1][k / 2], kBlockPitch, 1, free, step.marginals + j * row);
        }
    }
    __syncthreads();
}

// grid (columns i, tiles of 8 columns j) of two blocks: completes the gradient of pairs with i < j.
template <int kLetters>
__global__ void __launch_bounds__(kPairThreads, 3)
    finish_gradient(DeviceShape shape, Spread spread, GradientStep step, Index first_i,
                    Index first_tile) {
    const int q = kLetters > 0 ? kLetters : shape.letters, size = q * q;
    const Index i = first_i + blockIdx.x, tile = first_tile + blockIdx.y, j0 = tile * kPairColumns;
    const int count = static_cast<int>(min(Index{kPairColumns}, shape.columns - j0));
    if (i >= j0 + count) return;
    __shared__ PairBlock p[2][kPairColumns];
    load_products<kLetters>(shape, step, i, j0, count, p);
    double gradient2 = 0, point2 = 0;
    const Index first_pair = pair_offset(i, j0, shape.columns, q);  // j0 may be smaller than i
    for (int k = threadIdx.x; k < size; k += kPairThreads) {
        const int a = k / q, b = k % q, in_p = a * kBlockPitch + b;
        const float v_a = __ldg(spread.v + i * q + a);
        float x[kPairColumns], v[kPairColumns];
#pragma unroll
        for (int n = 0; n < kPairColumns; ++n) {
            const bool is_pair = n < count && j0 + n > i;
            x[n] = is_pair ? __ldg(step.x + first_pair + n * size + k) : 0.0f;
            v[n] = is_pair ? __ldg(spread.v + (j0 + n) * q + b) : 0.0f;
        }
#pragma unroll
        for (int n = 0; n < kPairColumns; ++n) {
            if (n >= count || j0 + n <= i) continue;
            const float scale = spread.scale(v_a, v[n]), value = x[n] * scale;
            const float g = p[0][n][in_p] + p[1][n][in_p] + 2 * step.lambda * value;
            gradient2 += static_cast<double>(g) * g;
            point2 += static_cast<double>(value) * value;
            step.gradient[first_pair + n * size + k] = g * scale;
        }
    }
    gradient2 = sum_over_threads<kPairThreads>(gradient2);
    point2 = sum_over_threads<kPairThreads>(point2);
    if (threadIdx.x == 0) step.sums[tile * shape.columns + i] = {gradient2, point2};
}

// grid (columns, columns), one warp, CTA (j, i): the norm of the pair's couplings without the gap
// after subtracting the mean of all; see scores.h. Each lane computes one letter of j.
static __global__ void __launch_bounds__(32)
    pair_norms(DeviceShape shape, const float* pairs, Spread spread, double* norms) {
    const Index i = blockIdx.y, j = blockIdx.x;
    if (i >= j) return;
    const int q = shape.letters, b = threadIdx.x;
    const float* block = pairs + pair_offset(i, j, shape.columns, q);
    const float v_b = b < q ? spread.v[j * q + b] : 0.0f;
    float value[kMaxLetterCodes];
    double mean = 0, sum = 0;
#pragma unroll
    for (int a = 0; a < kMaxLetterCodes; ++a) {
        value[a] =
            a < q && b < q ? block[a * q + b] * spread.scale(spread.v[i * q + a], v_b) : 0.0f;
        mean += value[a];
    }
    for (int k = 16; k > 0; k /= 2) mean += __shfl_xor_sync(~0u, mean, k);
    mean /= q * q;
#pragma unroll
    for (int a = 0; a < kMaxLetterCodes; ++a) {
        const double off = value[a] - mean;
        if (a < q - 1 && b < q - 1) sum += off * off;
    }
    for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
    if (threadIdx.x == 0) norms[i * shape.columns + j] = sqrt(sum);
}

}  // namespace pleat::couplings::cuda
