// Steps over pairs of columns on a GPU: scaling, dense operands, gradients of the couplings.
#pragma once

#include <cuda_bf16.h>

#include "pleat/core/view.h"
#include "pleat/couplings/device_shape.cuh"

namespace pleat::couplings::cuda {

// Couplings are stored divided by this; see Problem::scaled.
struct Spread {
    const float* v;  // [column][letters]
    float offset, factor;
    __device__ float scale(float a, float b) const { return 1.0f / sqrtf(offset + factor * a * b); }
};

// grid (columns, columns), CTA (j, i), i < j: multiplies the pair's couplings by their scale, or
// divides.
__global__ void rescale(Shape shape, const float* from, Spread spread, bool divide, float* to) {
    const Index i = blockIdx.y, j = blockIdx.x;
    if (i >= j) return;
    const int q = shape.letters;
    const Index block = (i * (2 * shape.columns - i - 1) / 2 + j - i - 1) * q * q;
    for (int k = threadIdx.x; k < q * q; k += blockDim.x) {
        const float scale = spread.scale(spread.v[i * q + k / q], spread.v[j * q + k % q]);
        to[block + k] = divide ? from[block + k] / scale : from[block + k] * scale;
    }
}

// grid (columns, columns): CTA (j, i) with i < j writes both orders of the pair's block.
__global__ void build_dense(Shape shape, const float* pairs, Spread spread, __nv_bfloat16* high,
                            __nv_bfloat16* low) {
    const Index i = blockIdx.y, j = blockIdx.x;
    if (i >= j) return;
    const int q = shape.letters;
    const float* block = pairs + (i * (2 * shape.columns - i - 1) / 2 + j - i - 1) * q * q;
    __shared__ float x[kMostLetters][kMostLetters + 1];
    for (int k = threadIdx.x; k < q * q; k += blockDim.x) {
        const int a = k / q, b = k % q;
        x[a][b] = block[k] * spread.scale(spread.v[i * q + a], spread.v[j * q + b]);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < q * q; k += blockDim.x) {
        const int s = k / q, t = k % q;  // rows of the letter gathered, columns of the target's
        const Index to_i = (j * shape.row + s) * shape.pitch + i * shape.row + t;
        const Index to_j = (i * shape.row + s) * shape.pitch + j * shape.row + t;
        split(x[t][s], high[to_i], low[to_i]);
        split(x[s][t], high[to_j], low[to_j]);
    }
}

// grid (columns, columns), CTA (j, i), i < j: the pair's gradient of the data, from both orders.
__global__ void add_orders(Shape shape, const float* products, float* pairs) {
    const Index i = blockIdx.y, j = blockIdx.x;
    if (i >= j) return;
    const int q = shape.letters;
    float* block = pairs + (i * (2 * shape.columns - i - 1) / 2 + j - i - 1) * q * q;
    __shared__ float x[kMostLetters][kMostLetters + 1];
    for (int k = threadIdx.x; k < q * q; k += blockDim.x) {
        const int b = k / q, a = k % q;
        x[a][b] = products[(j * shape.row + b) * shape.pitch + i * shape.row + a];
    }
    __syncthreads();
    for (int k = threadIdx.x; k < q * q; k += blockDim.x) {
        const int a = k / q, b = k % q;
        block[k] = x[a][b] + products[(i * shape.row + a) * shape.pitch + j * shape.row + b];
    }
}

// grid (columns), CTA i: completes the pairs (i, j > i) with regulariser and scaling; sums[i] gets
// the squared norms of gradient and point, unscaled.
__global__ void finish_gradient(Shape shape, const float* x, float* gradient, Spread spread,
                                float lambda, double2* sums) {
    const Index i = blockIdx.x;
    const int q = shape.letters;
    const Index begin = (i * (2 * shape.columns - i - 1) / 2) * q * q;
    const Index count = (shape.columns - 1 - i) * q * q;
    double gradient2 = 0, point2 = 0;
    for (Index k = threadIdx.x; k < count; k += blockDim.x) {
        const Index j = i + 1 + k / (q * q);
        const int a = k % (q * q) / q, b = k % q;
        const float scale = spread.scale(spread.v[i * q + a], spread.v[j * q + b]);
        const float value = x[begin + k] * scale;
        const float g = gradient[begin + k] + 2 * lambda * value;
        gradient2 += static_cast<double>(g) * g;
        point2 += static_cast<double>(value) * value;
        gradient[begin + k] = g * scale;
    }
    __shared__ double2 all[256];
    all[threadIdx.x] = {gradient2, point2};
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (static_cast<int>(threadIdx.x) < half) {
            all[threadIdx.x].x += all[threadIdx.x + half].x;
            all[threadIdx.x].y += all[threadIdx.x + half].y;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[i] = all[0];
}

}  // namespace pleat::couplings::cuda
