// What the steps on a GPU share: sizes, and floats as pairs of bf16.
#pragma once

#include <cuda_bf16.h>

#include "pleat/core/view.h"
#include "pleat/couplings/cuda_layout.h"

namespace pleat::couplings::cuda {

constexpr int kMostLetters = 24;

// The numbers of a Layout, worked out once.
struct Shape {
    Index sequences, padded_sequences, columns;
    int letters, row;
    Index pitch, chunks;
};

__device__ __forceinline__ void split(float x, __nv_bfloat16& high, __nv_bfloat16& low) {
    high = __float2bfloat16_rn(x);
    low = __float2bfloat16_rn(x - __bfloat162float(high));
}

}  // namespace pleat::couplings::cuda
