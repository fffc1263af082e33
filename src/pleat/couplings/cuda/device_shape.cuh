// Device shape: sizes for the steps on a GPU, and numbers as sums of float16 numbers.
#pragma once

#include "pleat/core/view.h"
#include "pleat/couplings/cuda/cuda_layout.h"
#include "pleat/couplings/cuda/one_hot_product.cuh"

namespace pleat::couplings::cuda {

// The sizes of a Layout, computed once.
struct DeviceShape {
    Index sequences, padded_sequences, columns;
    int letters, row, parts;
    Index depth, width, chunk, chunks;
};

constexpr float kLargestHalf = 65504;

// A dense operand for writing: the `parts` float16 numbers of a value are `depth` apart along the
// inner index.
struct DenseOperand {
    __half* data;
    Index depth;
    int parts;

    __device__ Index depth_tiles() const { return depth / kTileDepth * parts; }
    // Stores `value` and returns the stored, rounded value.
    __device__ float put(Index column, Index k, float value) const {
        const __half high = __float2half_rn(value);
        data[dense_index(column, k, depth_tiles())] = high;
        if (parts == 1) return __half2float(high);
        const __half low = __float2half_rn(value - __half2float(high));
        data[dense_index(column, depth + k, depth_tiles())] = low;
        return __half2float(high) + __half2float(low);
    }
    // Stores eight values along the inner index, whose first index is a multiple of 8.
    __device__ void put_piece(Index column, Index k, const float (&values)[8]) const {
        __align__(16) __half high[8], low[8];
#pragma unroll
        for (int n = 0; n < 8; ++n) high[n] = __float2half_rn(values[n]);
        auto* to = reinterpret_cast<uint4*>(data + dense_index(column, k, depth_tiles()));
        *to = *reinterpret_cast<const uint4*>(high);
        if (parts == 1) return;
#pragma unroll
        for (int n = 0; n < 8; ++n) low[n] = __float2half_rn(values[n] - __half2float(high[n]));
        to = reinterpret_cast<uint4*>(data + dense_index(column, depth + k, depth_tiles()));
        *to = *reinterpret_cast<const uint4*>(low);
    }
};

// Sums a value over the kCount threads of a CTA; every thread gets the result.
template <int kCount, class T>
__device__ __forceinline__ T sum_over_threads(T value) {
    __shared__ T lanes[kCount / 32];
    for (int k = 16; k > 0; k /= 2) value += __shfl_xor_sync(~0u, value, k);
    __syncthreads();  // all threads have read the previous sum
    if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = value;
    __syncthreads();
    T sum = 0;
    for (int k = 0; k < kCount / 32; ++k) sum += lanes[k];
    return sum;
}

}  // namespace pleat::couplings::cuda
