// Multiply-adds: a kernel that does nothing else.
#include "multiply_add_ceiling.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace pleat::bench {

namespace {

constexpr int kThreads = 256, kSums = 32, kLoops = 8192, kRepeats = 5;

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

/// Independent sums in registers.
__global__ void __launch_bounds__(kThreads) add_products(float seed, float* to) {
    float sums[kSums];
    const float a = seed + threadIdx.x, b = 0.999f - 1e-6f * threadIdx.x;
#pragma unroll
    for (int n = 0; n < kSums; ++n) sums[n] = a + n;
    for (int loop = 0; loop < kLoops; ++loop)
#pragma unroll
        for (int n = 0; n < kSums; ++n) sums[n] = fmaf(sums[n], b, a);
    float sum = 0;
#pragma unroll
    for (int n = 0; n < kSums; ++n) sum += sums[n];
    to[blockIdx.x * kThreads + threadIdx.x] = sum;
}

}  // namespace

double float_multiply_adds_a_second() {
    int device = 0, processors = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    const int blocks = 16 * processors;
    float* to = nullptr;
    check(cudaMalloc(&to, sizeof(float) * kThreads * static_cast<std::size_t>(blocks)));
    cudaEvent_t first, last;
    check(cudaEventCreate(&first));
    check(cudaEventCreate(&last));
    std::vector<double> rates;
    for (int repeat = 0; repeat <= kRepeats; ++repeat) {
        check(cudaEventRecord(first));
        add_products<<<blocks, kThreads>>>(static_cast<float>(repeat), to);
        check(cudaGetLastError());
        check(cudaEventRecord(last));
        check(cudaEventSynchronize(last));
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, first, last));
        if (repeat > 0)  // the first one warms up
            rates.push_back(1e3 * kThreads * kSums * static_cast<double>(kLoops) * blocks / milliseconds);
    }
    check(cudaEventDestroy(first));
    check(cudaEventDestroy(last));
    check(cudaFree(to));
    std::sort(rates.begin(), rates.end());
    return rates[kRepeats / 2];
}

}  // namespace pleat::bench
