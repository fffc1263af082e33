// CUDA kernels of saxs for many or large sets: sums of tasks, and their reduction.
#pragma once

#include "pleat/saxs/cuda/pair_kernel.cuh"

namespace pleat::saxs::cuda {

/// CTAs per multiprocessor: as many as leave each lane the registers that its sums need.
template <bool kEven, class Real>
constexpr int kResidentCtas = sizeof(Real) == 8 ? 2 : (kEven ? 5 : 4);

template <bool kEven, bool kScaled, class Real>
__global__ void __launch_bounds__(kWarps* kLanes, kResidentCtas<kEven, Real>)
    sum_tasks(Scattering<Real> from, Work<Real> work) {
    __shared__ KeptScatterers<Real> kept[kWarps];
    const Index job = blockIdx.y;
    const int warp = threadIdx.x / kLanes;
    const Index task = Index{blockIdx.x} * kWarps + warp;
    const int pass = blockIdx.z % from.pass_count, weighting = blockIdx.z / from.pass_count;
    sum_task<kEven, kScaled>(from, work, job, task, weighting, pass, threadIdx.x % kLanes,
                             kept[warp]);
}

/// Whether this is the last of `count` CTAs to arrive; it then sees what the others wrote before.
__device__ inline bool is_last(unsigned* arrived, unsigned count) {
    __shared__ bool last;
    __syncthreads();
    // Fences of one thread are for all of its CTA, by the barriers. More of them would make other
    // CTAs forget what their first cache has.
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(arrived, 1u) == count - 1;
        if (last) {
            *arrived = 0;
            __threadfence();
        }
    }
    __syncthreads();
    return last;
}

/// Each CTA adds a slice of a job's tasks; the last CTA adds all slices in their order.
template <class Real>
__global__ void __launch_bounds__(kReducedQ* kParts)
    reduce_tasks(Scattering<Real> from, Work<Real> work) {
    __shared__ double partial_sums[kParts][kReducedQ];
    const Index job = blockIdx.y;
    const int slices = work.slice_count, slice = blockIdx.x % slices, block = blockIdx.x / slices;
    const Index profile = job * gridDim.z + blockIdx.z;
    int a, b;
    channels_of(blockIdx.z, from.channels, a, b);
    const int lane = threadIdx.x % kReducedQ, part = threadIdx.x / kReducedQ;
    const int k = block * kReducedQ + lane;
    partial_sums[part][lane] = k < from.q_count ? sum_part(from, work, job, a, b, k,
                                                           slice * kParts + part, slices * kParts)
                                                : 0.0;
    __syncthreads();
    const bool adds = part == 0 && k < from.q_count;
    double sum = 0.0;
    if (adds)
        for (int n = 0; n < kParts; ++n) sum += partial_sums[n][lane];
    if (slices > 1) {
        double* const all = work.slices + profile * slices * from.q_count + k;
        if (adds) all[slice * from.q_count] = sum;
        const Index blocks = gridDim.x / slices;
        if (!is_last(work.arrived + profile * blocks + block, slices)) return;
        sum = 0.0;
        if (adds)
#pragma unroll 8
            for (int n = 0; n < slices; ++n) sum += __ldcg(all + n * from.q_count);
    }
    if (adds) {
        double* const to = work.partial + profile * from.q_count + k;
        *to = work.add != 0 ? *to + sum : sum;
    }
}

}  // namespace pleat::saxs::cuda
