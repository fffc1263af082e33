// Field steps on a GPU: a warp accepts or rejects a column's Newton trial and computes the next.
#pragma once

#include "pleat/core/view.h"
#include "pleat/couplings/cuda/column_steps.cuh"

namespace pleat::couplings::cuda {

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
static __global__ void start_fields(Shape shape, const float* x, FieldState* states) {
    FieldState& state = states[blockIdx.x];
    const int lane = threadIdx.x;
    if (lane < shape.letters - 1)
        state.trial[lane] = x[static_cast<Index>(blockIdx.x) * shape.letters + lane];
    if (lane == 0) state.passes = state.done = 0;
}

// Sums over the chunks: the data term and, for this lane's letter, sum w p and df/de.
__device__ inline double field_gradient(const Shape& shape, const ColumnInput& input,
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

// The Hessian's lower triangle without the term sum w p + 2 lambda of its diagonal: - sum w p p^T.
__device__ inline void field_hessian(const Shape& shape, const Partial* partials,
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
    advance_fields(Shape shape, ColumnInput input, const Partial* partials, double target2,
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
    finish_evaluation(Shape shape, const FieldState* states, bool best_fields,
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
