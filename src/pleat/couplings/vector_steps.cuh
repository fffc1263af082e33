// Vector work on a GPU: inner products and linear combinations of slots.
#pragma once

#include "pleat/core/view.h"

namespace pleat::couplings::cuda {

constexpr int kMostVectors = 16;
constexpr int kVectorBlocks = 264, kVectorThreads = 256;  // two CTAs for each of 132 processors

struct Vectors {
    const float* data[kMostVectors];
    float factor[kMostVectors];
    int count;
};

// CTA b sums its own stretch of the vectors; partial[k][b]. Pairs start at `fields`.
__global__ void dot_stretches(const float* a, Vectors with, Index fields, Index size, double metric,
                              double* partial) {
    const Index stretch = (size + gridDim.x - 1) / gridDim.x;
    const Index first = blockIdx.x * stretch, last = min(first + stretch, size);
    double sum[kMostVectors] = {};
    for (Index e = first + threadIdx.x; e < last; e += blockDim.x) {
        const double own = (e < fields ? 1.0 : metric) * a[e];
#pragma unroll
        for (int k = 0; k < kMostVectors; ++k) {
            if (k < with.count) sum[k] += own * with.data[k][e];
        }
    }
    __shared__ double lanes[kVectorThreads];
#pragma unroll
    for (int k = 0; k < kMostVectors; ++k) {
        if (k >= with.count) break;
        lanes[threadIdx.x] = sum[k];
        __syncthreads();
        for (int half = kVectorThreads / 2; half > 0; half /= 2) {
            if (static_cast<int>(threadIdx.x) < half)
                lanes[threadIdx.x] += lanes[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) partial[k * gridDim.x + blockIdx.x] = lanes[0];
        __syncthreads();
    }
}

__global__ void combine_vectors(Vectors from, Index size, float* out) {
    for (Index e = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; e < size;
         e += static_cast<Index>(gridDim.x) * blockDim.x) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < kMostVectors; ++k) {
            if (k < from.count) sum += from.factor[k] * from.data[k][e];
        }
        out[e] = sum;
    }
}

}  // namespace pleat::couplings::cuda
