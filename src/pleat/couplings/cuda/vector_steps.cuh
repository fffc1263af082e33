// Vector steps on a GPU: inner products and linear combinations of vectors.
#pragma once

#include "pleat/core/view.h"
#include "pleat/couplings/cuda/device_shape.cuh"

namespace pleat::couplings::cuda {

constexpr int kMaxVectors = 16;
constexpr int kVectorBlocks = 264, kVectorThreads = 256;  // two CTAs for each of 132 processors

struct Vectors {
    const float* data[kMaxVectors];
    float factor[kMaxVectors];
    int count;
};

// Vectors are read four numbers at a time; up to three numbers at the end separately.
__device__ __forceinline__ float4 load_four_at(const float* from, Index four) {
    return reinterpret_cast<const float4*>(from)[four];
}

// CTA b sums its stretch of the vectors to partial[k][b]. The pairs start at element `fields`.
static __global__ void __launch_bounds__(kVectorThreads)
    dot_stretches(const float* a, Vectors with, Index fields, Index size, double metric,
                  double* partial) {
    const Index fours = size / 4, stretch = (fours + gridDim.x - 1) / gridDim.x;
    const Index first = blockIdx.x * stretch, last = min(first + stretch, fours);
    double sum[kMaxVectors] = {};
    const auto factor = [&](Index e) { return e < fields ? 1.0 : metric; };
    for (Index k4 = first + threadIdx.x; k4 < last; k4 += kVectorThreads) {
        const float4 x = load_four_at(a, k4);
        const double weighted[4] = {factor(4 * k4) * x.x, factor(4 * k4 + 1) * x.y,
                                    factor(4 * k4 + 2) * x.z, factor(4 * k4 + 3) * x.w};
#pragma unroll
        for (int k = 0; k < kMaxVectors; ++k) {
            if (k >= with.count) continue;
            const float4 y = load_four_at(with.data[k], k4);
            sum[k] +=
                weighted[0] * y.x + weighted[1] * y.y + (weighted[2] * y.z + weighted[3] * y.w);
        }
    }
    if (const Index e = 4 * fours + threadIdx.x; blockIdx.x + 1 == gridDim.x && e < size) {
#pragma unroll
        for (int k = 0; k < kMaxVectors; ++k) {
            if (k < with.count) sum[k] += factor(e) * a[e] * with.data[k][e];
        }
    }
#pragma unroll
    for (int k = 0; k < kMaxVectors; ++k) {
        if (k >= with.count) break;
        const double total = sum_over_threads<kVectorThreads>(sum[k]);
        if (threadIdx.x == 0) partial[k * gridDim.x + blockIdx.x] = total;
    }
}

static __global__ void __launch_bounds__(kVectorThreads)
    combine_vectors(Vectors from, Index size, float* out) {
    const Index fours = size / 4,
                thread = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (Index k4 = thread; k4 < fours; k4 += static_cast<Index>(gridDim.x) * blockDim.x) {
        float4 sum = {0, 0, 0, 0};
#pragma unroll
        for (int k = 0; k < kMaxVectors; ++k) {
            if (k >= from.count) continue;
            const float4 x = load_four_at(from.data[k], k4);
            const float factor = from.factor[k];
            sum = {sum.x + factor * x.x, sum.y + factor * x.y, sum.z + factor * x.z,
                   sum.w + factor * x.w};
        }
        reinterpret_cast<float4*>(out)[k4] = sum;
    }
    if (const Index e = 4 * fours + thread; e < size) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < kMaxVectors; ++k) {
            if (k < from.count) sum += from.factor[k] * from.data[k][e];
        }
        out[e] = sum;
    }
}

}  // namespace pleat::couplings::cuda
