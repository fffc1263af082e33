// Column steps on a GPU: softmax passes over the sequences, and residuals.
#pragma once

#include <cstdint>

#include "pleat/core/view.h"
#include "pleat/couplings/cuda/device_shape.cuh"
#include "pleat/couplings/cuda/gram.cuh"

namespace pleat::couplings::cuda {

constexpr int kMaxFree = kMaxLetterCodes - 1;

struct ColumnInput {
    LetterTiles letters;
    const float* logits;   // [column * row + letter][padded sequence], without fields and offsets
    const float* offsets;  // [column * row + letter], to be added
    const float* weights;  // [padded sequence], 0 in padding
    const float* counts;   // weighted letter counts [column][letters]
    double lambda;
};

// The Newton iteration of one column's fields; field_newton.h has the same for the host.
struct FieldState {
    double base[kMaxFree], trial[kMaxFree], step[kMaxFree];
    double base_value, base_gradient2, length;
    double data_term, gradient2;
    double gradient[kMaxFree];
    int passes, done;
};

// Sums over one chunk of sequences for one column: w p, and w p p^T for pairs b <= a in row order.
struct Partial {
    float totals[kMaxLetterCodes];
    float products[kMaxFree * (kMaxFree + 1) / 2];
    double value;  // of the data term
};
static_assert(sizeof(Partial) == kPartialBytes);

constexpr __host__ __device__ int triangle(int a, int b) { return a * (a + 1) / 2 + b; }

// exp(h - max h) of all letters but the gap, h(gap) = 0. Returns the sum over all letters, and
// log sum exp h - h(observed letter).
__device__ __forceinline__ float exponentials(const float* logits, Index pitch, const float* fields,
                                              int free, int observed, float (&p)[kMaxFree],
                                              float& surprise) {
    float largest = 0, h_observed = 0;
#pragma unroll
    for (int a = 0; a < kMaxFree; ++a) {
        if (a < free) {
            p[a] = logits[a * pitch] + fields[a];
            largest = fmaxf(largest, p[a]);
            if (a == observed) h_observed = p[a];
        }
    }
    float sum = __expf(-largest);
#pragma unroll
    for (int a = 0; a < kMaxFree; ++a) {
        p[a] = a < free ? __expf(p[a] - largest) : 0.0f;
        sum += p[a];
    }
    surprise = logf(sum) + largest - h_observed;
    return sum;
}

__device__ __forceinline__ int observed_letter(const LetterTiles& letters, Index n, Index column) {
    return letters.data[(n / kTileDepth * letters.columns + column) * kTileDepth + n % kTileDepth] -
           static_cast<int>(kLetterBits);
}

// Sums each letter's value over the threads of each warp.
__device__ __forceinline__ void sum_letters(float (&p)[kMaxFree], int free,
                                            float (*sums)[kSequenceTile / 32]) {
#pragma unroll
    for (int a = 0; a < kMaxFree; ++a) {
        if (a >= free) break;
        for (int k = 16; k > 0; k /= 2) p[a] += __shfl_xor_sync(~0u, p[a], k);
        if (threadIdx.x % 32 == 0) sums[a][threadIdx.x / 32] = p[a];
    }
    __syncthreads();
}

// grid (columns, chunks): sums of w p, of w p p^T and of the data term for one chunk.
template <int kFree>
__global__ void __launch_bounds__(kSequenceTile, 3)
    softmax_sums(Shape shape, ColumnInput input, const FieldState* states, Partial* partials) {
    const Index i = blockIdx.x;
    const FieldState& state = states[i];
    if (state.done) return;
    __shared__ GramShared shared;
    __shared__ float fields[kMaxFree];
    const int free = kFree > 0 ? kFree : shape.letters - 1, thread = threadIdx.x;
    if (thread < free)
        fields[thread] =
            static_cast<float>(state.trial[thread] + input.offsets[i * shape.row + thread]);
    __syncthreads();
    Gram gram{};
    float totals[kMaxFree] = {};
    double value = 0;
    const Index start = static_cast<Index>(blockIdx.y) * shape.chunk;
    for (Index n0 = start; n0 < start + shape.chunk && n0 < shape.sequences; n0 += kSequenceTile) {
        const Index n = n0 + thread;
        float p[kMaxFree] = {};
        if (n < shape.sequences) {
            float surprise;
            const float w = input.weights[n];
            const float all = exponentials(
                input.logits + i * shape.row * shape.padded_sequences + n, shape.padded_sequences,
                fields, free, observed_letter(input.letters, n, i), p, surprise);
            const float root = sqrtf(w), share = root / all;
#pragma unroll
            for (int a = 0; a < kMaxFree; ++a) {
                p[a] *= share;
                totals[a] += p[a] * root;
            }
            value += static_cast<double>(w) * surprise;
        }
        gram.add(shared, p);
    }
    Partial& out = partials[blockIdx.y * shape.columns + blockIdx.x];
    gram.store(shared, free, out.products);
    __shared__ float sums[kMaxFree][kSequenceTile / 32];
    sum_letters(totals, free, sums);
    if (thread < free) {
        float sum = 0;
        for (int k = 0; k < kSequenceTile / 32; ++k) sum += sums[thread][k];
        out.totals[thread] = sum;
    }
    value = sum_over_threads<kSequenceTile>(value);
    if (thread == 0) out.value = value;
}

// grid (columns, tiles of sequences): w (p - observed letter), and its sums over the tile.
template <int kFree>
__global__ void __launch_bounds__(kSequenceTile)
    residuals(Shape shape, ColumnInput input, const FieldState* states, float scale,
              DenseOperand out, float* marginals) {
    const Index i = blockIdx.x;
    const Index n = static_cast<Index>(blockIdx.y) * kSequenceTile + threadIdx.x;
    const int free = kFree > 0 ? kFree : shape.letters - 1, thread = threadIdx.x;
    __shared__ float fields[kMaxFree];
    __shared__ float sums[kMaxFree][kSequenceTile / 32];
    if (thread < free)
        fields[thread] =
            static_cast<float>(states[i].trial[thread] + input.offsets[i * shape.row + thread]);
    __syncthreads();
    float p[kMaxFree] = {};
    if (n < shape.sequences) {
        const int observed = observed_letter(input.letters, n, i);
        float surprise;
        const float all = exponentials(input.logits + i * shape.row * shape.padded_sequences + n,
                                       shape.padded_sequences, fields, free, observed, p, surprise);
        const float w = input.weights[n] * scale;
#pragma unroll
        for (int a = 0; a < kMaxFree; ++a) {
            if (a < free)
                p[a] = out.put(i * shape.row + a, n, p[a] * (w / all) - (a == observed ? w : 0.0f));
        }
    }
    sum_letters(p, free, sums);
    if (thread >= free) return;
    float sum = 0;
    for (int k = 0; k < kSequenceTile / 32; ++k) sum += sums[thread][k];
    marginals[blockIdx.y * shape.width + i * shape.row + thread] = sum;
}

// out[c] = factor * sum_k parts[k][c], k < count, in double precision.
static __global__ void add_rows(const float* parts, Index count, Index pitch, Index columns,
                                float factor, float* out) {
    const Index c = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (c >= columns) return;
    double sum = 0;
    for (Index k = 0; k < count; ++k) sum += parts[k * pitch + c];
    out[c] = static_cast<float>(sum * factor);
}

}  // namespace pleat::couplings::cuda
