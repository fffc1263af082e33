// Steps over columns on a GPU: softmax passes over the sequences, and their residuals.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

#include "pleat/core/view.h"
#include "pleat/couplings/device_shape.cuh"

namespace pleat::couplings::cuda {

constexpr int kSequenceTile = 256;  // sequences, and threads, of one step of a softmax CTA
constexpr int kGram = kMostLetters * (kMostLetters + 1) / 2;

struct ColumnInput {
    const std::uint8_t* own;  // [column][padded sequence]
    const float* weights;     // [padded sequence], 0 in padding
    const float* counts;      // weighted letter counts [column][letters]
    double lambda;
};

// The Newton iteration of one column's fields; see field_newton.h for the same on the host.
struct FieldState {
    double base[kMostLetters], trial[kMostLetters], step[kMostLetters];
    double base_value, base_gradient2, length;
    double data_term, gradient2;
    double gradient[kMostLetters];
    int passes, done;
};

// Partial sums of one chunk of sequences for one column.
struct Partial {
    float totals[kMostLetters];
    float gram[kGram];
    double value;
};
static_assert(sizeof(Partial) == kPartialBytes);
static_assert((kMostLetterCodes - 1) * kMostLetterCodes / 2 <= kSequenceTile);

// exp(h - max h) of one sequence and column; returns the sum, and log sum exp h - h(own).
__device__ __forceinline__ float exponentials(const float* sums, const double* fields, int letters,
                                              int own, float (&p)[kMostLetters], float& surprise) {
    float most = -1e30f, h_own = 0;
#pragma unroll
    for (int a = 0; a < kMostLetters; ++a) {
        if (a < letters) {
            p[a] = sums[a] + static_cast<float>(fields[a]);
            most = fmaxf(most, p[a]);
            if (a == own) h_own = p[a];
        }
    }
    float sum = 0;
#pragma unroll
    for (int a = 0; a < kMostLetters; ++a) {
        p[a] = a < letters ? expf(p[a] - most) : 0.0f;
        sum += p[a];
    }
    surprise = logf(sum) + most - h_own;
    return sum;
}

// grid (columns, chunks): sums of w p, of w p p^T and of the data term for one chunk.
__global__ void __launch_bounds__(kSequenceTile)
    softmax_sums(Shape shape, const float* sums, ColumnInput input, const FieldState* states,
                 bool with_gram, Partial* partials) {
    const Index i = blockIdx.x;
    const FieldState& state = states[i];
    if (state.done) return;
    __shared__ float rows[kSequenceTile][kMostLetters + 1];
    __shared__ double values[kSequenceTile];
    __shared__ double fields[kMostLetters];
    if (threadIdx.x < kMostLetters) fields[threadIdx.x] = state.trial[threadIdx.x];
    __syncthreads();
    const int free = shape.letters - 1;
    // Thread (a, b) of the lower triangle sums one element of the Gram matrix.
    int a = 0;
    while ((a + 1) * (a + 2) / 2 <= static_cast<int>(threadIdx.x)) ++a;
    const int b = threadIdx.x - a * (a + 1) / 2;
    float gram = 0, total = 0;
    double value = 0;
    const Index start = static_cast<Index>(blockIdx.y) * kSequenceChunk;
    for (Index n0 = start; n0 < start + kSequenceChunk && n0 < shape.sequences;
         n0 += kSequenceTile) {
        const Index n = n0 + threadIdx.x;
        float p[kMostLetters] = {};
        if (n < shape.sequences) {
            float surprise;
            const float w = input.weights[n];
            const float sum =
                exponentials(sums + n * shape.pitch + blockIdx.x * shape.row, fields, shape.letters,
                             input.own[i * shape.padded_sequences + n], p, surprise);
            const float factor = sqrtf(w) / sum;
            for (int k = 0; k < kMostLetters; ++k) p[k] *= factor;
            value += static_cast<double>(w) * surprise;
        }
        for (int k = 0; k < kMostLetters; ++k) rows[threadIdx.x][k] = p[k];
        rows[threadIdx.x][kMostLetters] = n < shape.sequences ? sqrtf(input.weights[n]) : 0.0f;
        __syncthreads();
        if (with_gram && a < free) {
            for (int k = 0; k < kSequenceTile; ++k) gram += rows[k][a] * rows[k][b];
        }
        const int t = static_cast<int>(threadIdx.x) - (kSequenceTile - kMostLetters);
        if (t >= 0) {
            for (int k = 0; k < kSequenceTile; ++k) total += rows[k][t] * rows[k][kMostLetters];
        }
        __syncthreads();
    }
    Partial& out = partials[blockIdx.y * shape.columns + blockIdx.x];
    if (with_gram && a < free) out.gram[threadIdx.x] = gram;
    const int t = static_cast<int>(threadIdx.x) - (kSequenceTile - kMostLetters);
    if (t >= 0) out.totals[t] = total;
    values[threadIdx.x] = value;
    __syncthreads();
    for (int half = kSequenceTile / 2; half > 0; half /= 2) {
        if (static_cast<int>(threadIdx.x) < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out.value = values[0];
}

// grid (columns, tiles of sequences): w (p - own letter) in two bf16 parts, over all padded rows.
__global__ void residuals(Shape shape, const float* sums, ColumnInput input,
                          const FieldState* states, __nv_bfloat16* high, __nv_bfloat16* low) {
    const Index i = blockIdx.x;
    const Index n = static_cast<Index>(blockIdx.y) * blockDim.x + threadIdx.x;
    if (n >= shape.padded_sequences) return;
    const float w = input.weights[n];
    float p[kMostLetters] = {};
    const Index at = n * shape.pitch + blockIdx.x * shape.row;
    if (n < shape.sequences) {
        const int own = input.own[i * shape.padded_sequences + n];
        float surprise;
        const float sum = exponentials(sums + at, states[i].trial, shape.letters, own, p, surprise);
        const float factor = w / sum;
#pragma unroll
        for (int a = 0; a < kMostLetters; ++a) p[a] = p[a] * factor - (a == own ? w : 0.0f);
    }
#pragma unroll
    for (int a = 0; a < kMostLetters; ++a) {
        if (a < shape.row) split(p[a], high[at + a], low[at + a]);
    }
}

}  // namespace pleat::couplings::cuda
