// Column steps on a GPU: letters in tiles, softmax passes over the sequences, residuals, and Newton
// steps of the fields.
#pragma once

#include <cstdint>

#include "pleat/core/view.h"
#include "pleat/couplings/cuda/device_shape.cuh"

namespace pleat::couplings::cuda {

constexpr int kCountThreads = 256;

// grid (columns, tiles of 256 sequences): copies codes [sequence][column] to tiles of letters.
static __global__ void tile_letters(DeviceShape shape, const std::uint8_t* rows, Index tile_columns,
                                    std::uint16_t* tiles) {
    const Index n = static_cast<Index>(blockIdx.y) * blockDim.x + threadIdx.x, i = blockIdx.x;
    if (n >= shape.sequences) return;
    tiles[(n / kTileDepth * tile_columns + i) * kTileDepth + n % kTileDepth] =
        static_cast<std::uint16_t>(kLetterBits + rows[n * shape.columns + i]);
}

// grid (columns): weighted counts of the letters of a column. Each thread sums in its own row, so
// that the order of sums is fixed.
static __global__ void __launch_bounds__(kCountThreads)
    count_letters(DeviceShape shape, const std::uint16_t* tiles, Index tile_columns,
                  const float* weights, double* sums) {
    __shared__ float counts[kMaxLetterCodes][kCountThreads];
    for (int a = 0; a < shape.letters; ++a) counts[a][threadIdx.x] = 0;
    for (Index n = threadIdx.x; n < shape.sequences; n += kCountThreads) {
        const int letter =
            tiles[(n / kTileDepth * tile_columns + blockIdx.x) * kTileDepth + n % kTileDepth] -
            static_cast<int>(kLetterBits);
        counts[letter][threadIdx.x] += weights[n];
    }
    __syncthreads();
    if (static_cast<int>(threadIdx.x) >= shape.letters) return;
    double sum = 0;
    for (int k = 0; k < kCountThreads; ++k) sum += counts[threadIdx.x][k];
    sums[static_cast<Index>(blockIdx.x) * shape.letters + threadIdx.x] = sum;
}

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
                // Letters from 24 on do not exist; their rows repeat earlier rows and are not read.
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

constexpr int kMaxFree = kMaxLetterCodes - 1;

struct ColumnInput {
    LetterTiles letters;
    const float* logits;   // [column * row + letter][padded sequence], without fields and offsets
    const float* offsets;  // [column * row + letter], to be added
    const float* weights;  // [padded sequence], 0 in padding
    const float* counts;   // weighted letter counts [column][letters]
    double lambda;
};

// Newton iteration for the fields of one column; field_newton.h is the host version.
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
    softmax_sums(DeviceShape shape, ColumnInput input, const FieldState* states,
                 Partial* partials) {
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
    residuals(DeviceShape shape, ColumnInput input, const FieldState* states, float scale,
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

// One thread per element of the Hessian's lower triangle.
constexpr int kFieldThreads = 288;
static_assert(triangle(kMaxFree, 0) <= kFieldThreads);

// Solves step = -hessian^-1 gradient by Cholesky on one warp, one row per lane. Returns false if
// the Hessian is not positive definite. Stores the inverse of the factor's diagonal.
__device__ inline bool newton_solve(int n, double (*h)[kMaxFree], const double* gradient,
                                    double* step) {
    const int lane = threadIdx.x;
    bool good = true;
    for (int j = 0; j < n; ++j) {
        double value = 0, other = 0;
        if (lane >= j && lane < n) {
            value = h[lane][j];
            int k = 0;
            for (; k + 1 < j; k += 2) {
                value -= h[lane][k] * h[j][k];
                other -= h[lane][k + 1] * h[j][k + 1];
            }
            if (k < j) value -= h[lane][k] * h[j][k];
            value += other;
        }
        const double diagonal = __shfl_sync(~0u, value, j);
        const double inverse = rsqrt(diagonal);
        good = good && diagonal > 0;
        __syncwarp();
        if (lane >= j && lane < n) h[lane][j] = lane == j ? inverse : value * inverse;
        __syncwarp();
    }
    double value = lane < n ? -gradient[lane] : 0;
    for (int i = 0; i < n; ++i) {
        const double solved = __shfl_sync(~0u, value, i) * h[i][i];
        if (lane == i) value = solved;
        if (lane > i && lane < n) value -= h[lane][i] * solved;
    }
    for (int i = n - 1; i >= 0; --i) {
        const double solved = __shfl_sync(~0u, value, i) * h[i][i];
        if (lane == i) value = solved;
        if (lane < i) value -= h[i][lane] * solved;
    }
    if (lane < n) step[lane] = value;
    __syncwarp();
    return good;
}

// grid (columns), one warp each: the fields of a point become the first trial.
static __global__ void start_fields(DeviceShape shape, const float* x, FieldState* states) {
    FieldState& state = states[blockIdx.x];
    const int lane = threadIdx.x;
    if (lane < shape.letters - 1)
        state.trial[lane] = x[static_cast<Index>(blockIdx.x) * shape.letters + lane];
    if (lane == 0) state.passes = state.done = 0;
}

// Sums over the chunks: the data term and, for this lane's letter, sum w p and df/de.
__device__ inline double field_gradient(const DeviceShape& shape, const ColumnInput& input,
                                        const Partial* partials, const FieldState& state,
                                        double& total, double& value) {
    const Index i = blockIdx.x;
    const int lane = threadIdx.x, free = shape.letters - 1;
    total = value = 0;
#pragma unroll 8
    for (Index c = 0; c < shape.chunks; ++c) {
        const Partial& partial = partials[c * shape.columns + i];
        total += partial.totals[min(lane, free - 1)];
        value += partial.value;
    }
    if (lane >= free) return 0;
    return total - input.counts[i * shape.letters + lane] + 2 * input.lambda * state.trial[lane];
}

// The lower triangle of the Hessian, - sum w p p^T, without the diagonal term sum w p + 2 lambda.
__device__ inline void field_hessian(const DeviceShape& shape, const Partial* partials,
                                     double (*hessian)[kMaxFree]) {
    const int k = threadIdx.x;
    if (k >= triangle(shape.letters - 1, 0)) return;
    int a = 0;
    while (triangle(a + 1, 0) <= k) ++a;
    double sum = 0;
#pragma unroll 8
    for (Index c = 0; c < shape.chunks; ++c)
        sum += partials[c * shape.columns + blockIdx.x].products[k];
    hessian[a][k - triangle(a, 0)] = -sum;
}

// grid (columns): accepts or rejects the latest trial and computes the next. All threads sum the
// Hessian, one warp does everything else. `remaining` counts the columns that need more passes.
static __global__ void __launch_bounds__(kFieldThreads)
    advance_fields(DeviceShape shape, ColumnInput input, const Partial* partials, double target2,
                   int max_passes, FieldState* states, int* remaining) {
    FieldState& state = states[blockIdx.x];
    if (state.done) return;
    const int lane = threadIdx.x, free = shape.letters - 1;
    __shared__ double hessian[kMaxFree][kMaxFree], gradient[kMaxFree], step[kMaxFree];
    field_hessian(shape, partials, hessian);
    __syncthreads();
    if (threadIdx.x >= 32) return;
    double total, value;
    const double of_lane = field_gradient(shape, input, partials, state, total, value);
    double g2 = of_lane * of_lane, norm = lane < free ? state.trial[lane] * state.trial[lane] : 0;
    if (lane < free) gradient[lane] = of_lane;
    for (int k = 16; k > 0; k /= 2) {
        g2 += __shfl_xor_sync(~0u, g2, k);
        norm += __shfl_xor_sync(~0u, norm, k);
    }
    const double regularised = value + input.lambda * norm;
    const bool first = state.passes == 0;
    const bool better = first || regularised <= state.base_value || g2 < state.base_gradient2;
    const bool stuck = !first && better && g2 >= 0.5 * state.base_gradient2 && g2 < 1e4 * target2;
    const bool finished = g2 <= target2 || stuck || state.passes + 1 >= max_passes;
    __syncwarp();
    if (lane == 0) {
        ++state.passes;
        state.data_term = value;
        state.gradient2 = g2;
        if (finished) state.done = 1;
    }
    if (lane < free) state.gradient[lane] = of_lane;
    if (finished) return;
    if (!better) {
        if (lane < free)
            state.trial[lane] = state.base[lane] + 0.25 * state.length * state.step[lane];
        __syncwarp();
        if (lane == 0) {
            state.length *= 0.25;
            atomicAdd(remaining, 1);
        }
        return;
    }
    if (lane < free) hessian[lane][lane] += total + 2 * input.lambda;
    __syncwarp();
    const bool good = newton_solve(free, hessian, gradient, step);
    double longest = lane < free ? fabs(step[lane]) : 0;
    for (int k = 16; k > 0; k /= 2) longest = fmax(longest, __shfl_xor_sync(~0u, longest, k));
    const double length = longest > 3.0 ? 3.0 / longest : 1.0;
    if (lane < free && good) {
        state.base[lane] = state.trial[lane];
        state.step[lane] = step[lane];
        state.trial[lane] += length * step[lane];
    }
    if (lane == 0) {
        state.base_value = regularised;
        state.base_gradient2 = g2;
        state.length = length;
        if (good)
            atomicAdd(remaining, 1);
        else
            state.done = 1;
    }
}

// The sums of one evaluation.
struct Sums {
    double data_term, field_norm2, field_gradient2, pair_gradient2, pair_norm2;
    int too_large;  // couplings beyond the range of float16
};

// One CTA: writes fields and their gradient to the vectors and adds up all sums in a fixed order.
// The gradient of the best fields is zero up to rounding, and the reduced problem has no fields.
template <int kCount>
__global__ void __launch_bounds__(kCount)
    finish_evaluation(DeviceShape shape, const FieldState* states, bool best_fields,
                      const double2* pair_sums, Index pair_sum_count, const int* too_large,
                      float* x, float* gradient, Sums* out) {
    const int free = shape.letters - 1;
    double data_term = 0, norm2 = 0, gradient2 = 0, pair_gradient2 = 0, pair_norm2 = 0;
    for (Index k = threadIdx.x; k < shape.columns * shape.letters; k += kCount) {
        const FieldState& state = states[k / shape.letters];
        const int a = static_cast<int>(k % shape.letters);
        if (a == 0) {
            data_term += state.data_term;
            gradient2 += state.gradient2;
        }
        if (a < free) {
            norm2 += state.trial[a] * state.trial[a];
            if (best_fields) x[k] = static_cast<float>(state.trial[a]);
        }
        gradient[k] = best_fields || a == free ? 0.0f : static_cast<float>(state.gradient[a]);
    }
    for (Index k = threadIdx.x; k < pair_sum_count; k += kCount) {
        pair_gradient2 += pair_sums[k].x;
        pair_norm2 += pair_sums[k].y;
    }
    data_term = sum_over_threads<kCount>(data_term);
    norm2 = sum_over_threads<kCount>(norm2);
    gradient2 = sum_over_threads<kCount>(gradient2);
    pair_gradient2 = sum_over_threads<kCount>(pair_gradient2);
    pair_norm2 = sum_over_threads<kCount>(pair_norm2);
    if (threadIdx.x == 0)
        *out = {data_term, norm2, gradient2, pair_gradient2, pair_norm2, *too_large};
}

}  // namespace pleat::couplings::cuda
