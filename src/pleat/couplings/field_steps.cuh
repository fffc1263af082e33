// Newton steps of the fields on a GPU: a warp judges a column's trial and proposes the next.
#pragma once

#include "pleat/core/view.h"
#include "pleat/couplings/column_steps.cuh"

namespace pleat::couplings::cuda {

// Cholesky and solve by one warp, a row a lane: step = -hessian^-1 gradient. False: not positive
// definite.
__device__ bool newton_solve(int n, double (*h)[kMostLetters], const double* gradient,
                             double* step) {
    const int lane = threadIdx.x;
    bool good = true;
    for (int j = 0; j < n; ++j) {
        double value = 0;
        if (lane >= j && lane < n) {
            value = h[lane][j];
            for (int k = 0; k < j; ++k) value -= h[lane][k] * h[j][k];
        }
        const double diagonal = __shfl_sync(~0u, value, j);
        good = good && diagonal > 0;
        __syncwarp();
        if (lane >= j && lane < n) h[lane][j] = lane == j ? sqrt(diagonal) : value / sqrt(diagonal);
        __syncwarp();
    }
    double value = lane < n ? -gradient[lane] : 0;
    for (int i = 0; i < n; ++i) {
        const double solved = __shfl_sync(~0u, value, i) / h[i][i];
        if (lane == i) value = solved;
        if (lane > i && lane < n) value -= h[lane][i] * solved;
    }
    for (int i = n - 1; i >= 0; --i) {
        const double solved = __shfl_sync(~0u, value, i) / h[i][i];
        if (lane == i) value = solved;
        if (lane < i) value -= h[i][lane] * solved;
    }
    if (lane < n) step[lane] = value;
    __syncwarp();
    return good;
}

// grid (columns), one warp each: judges the latest trial and proposes the next.
__global__ void advance_fields(Shape shape, ColumnInput input, const Partial* partials,
                               double target2, int most_passes, FieldState* states,
                               int* remaining) {
    const Index i = blockIdx.x, width = shape.columns;
    FieldState& state = states[i];
    if (state.done) return;
    const int lane = threadIdx.x, free = shape.letters - 1;
    __shared__ double hessian[kMostLetters][kMostLetters], gradient[kMostLetters],
        step[kMostLetters];
    double total = 0, value = 0;
    for (Index c = 0; c < shape.chunks; ++c) {
        const Partial& partial = partials[c * width + blockIdx.x];
        if (lane < shape.letters) total += partial.totals[lane];
        value += partial.value;
    }
    double own = 0, norm = 0;
    if (lane < free) {
        const double e = state.trial[lane];
        own = total - input.counts[i * shape.letters + lane] + 2 * input.lambda * e;
        norm = e * e;
        gradient[lane] = own;
    }
    double g2 = own * own;
    for (int k = 16; k > 0; k /= 2) {
        g2 += __shfl_xor_sync(~0u, g2, k);
        norm += __shfl_xor_sync(~0u, norm, k);
    }
    const double regularised = value + input.lambda * norm;
    const bool first = state.passes == 0;
    const bool better = first || regularised <= state.base_value || g2 < state.base_gradient2;
    const bool stuck = !first && better && g2 >= 0.5 * state.base_gradient2 && g2 < 1e4 * target2;
    const bool finished = g2 <= target2 || stuck || state.passes + 1 >= most_passes;
    __syncwarp();
    if (lane == 0) {
        ++state.passes;
        state.data_term = value;
        state.gradient2 = g2;
        if (finished) state.done = 1;
    }
    if (lane < free) state.gradient[lane] = own;
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
    for (int k = lane; k < free * (free + 1) / 2; k += 32) {
        int a = 0;
        while ((a + 1) * (a + 2) / 2 <= k) ++a;
        double sum = 0;
        for (Index c = 0; c < shape.chunks; ++c) sum += partials[c * width + blockIdx.x].gram[k];
        hessian[a][k - a * (a + 1) / 2] = -sum;
    }
    __syncwarp();
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

}  // namespace pleat::couplings::cuda
