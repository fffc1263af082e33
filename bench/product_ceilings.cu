// What products of tiles can reach: the kernels that do nothing but multiply.
#include "product_ceilings.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace pleat::bench {

namespace {

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

constexpr int kCeilingThreads = 256, kCeilingLoops = 4096;

/// 32 independent sums a thread, in registers.
__global__ void __launch_bounds__(kCeilingThreads) add_products(float seed, float* out) {
    float sums[32];
    const float a = seed + threadIdx.x, b = 0.999f - 1e-6f * threadIdx.x;
#pragma unroll
    for (int n = 0; n < 32; ++n) sums[n] = a + n;
    for (int loop = 0; loop < kCeilingLoops; ++loop)
#pragma unroll
        for (int n = 0; n < 32; ++n) sums[n] = fmaf(sums[n], b, a);
    float sum = 0;
#pragma unroll
    for (int n = 0; n < 32; ++n) sum += sums[n];
    out[blockIdx.x * kCeilingThreads + threadIdx.x] = sum;
}

/// 8 independent sums of mma.m16n8k16 a warp, of numbers that differ from lane to lane.
__global__ void __launch_bounds__(kCeilingThreads)
    add_half_products(std::uint32_t seed, float* out) {
    float sums[8][4] = {};
    std::uint32_t a[4], b[2];
    // Sign, exponent of numbers from 0.5 to 1, and a mantissa that looks random.
    const auto noise = [&](std::uint32_t n) {
        const std::uint32_t word = (seed + threadIdx.x * 8 + n) * 2654435761u;
        return (word & 0x83ff83ffu) | 0x38003800u;
    };
    for (int n = 0; n < 4; ++n) a[n] = noise(n);
    for (int n = 0; n < 2; ++n) b[n] = noise(4 + n);
    for (int loop = 0; loop < kCeilingLoops; ++loop)
#pragma unroll
        for (int n = 0; n < 8; ++n)
            asm volatile(
                "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                : "+f"(sums[n][0]), "+f"(sums[n][1]), "+f"(sums[n][2]), "+f"(sums[n][3])
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    float sum = 0;
    for (auto& four : sums)
        for (const float value : four) sum += value;
    out[blockIdx.x * kCeilingThreads + threadIdx.x] = sum;
}

}  // namespace

double multiply_adds_a_second(bool halves) {
    int processors = 0;
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    const int grid = processors * 8;
    float* out = nullptr;
    check(cudaMalloc(&out, sizeof(float) * grid * kCeilingThreads));
    cudaEvent_t start, end;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&end));
    std::vector<double> rates;
    for (int repeat = 0; repeat < 7; ++repeat) {
        check(cudaEventRecord(start));
        if (halves)
            add_half_products<<<grid, kCeilingThreads>>>(7u, out);
        else
            add_products<<<grid, kCeilingThreads>>>(1.0f, out);
        check(cudaGetLastError());
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, start, end));
        const double of_warp = halves ? 8.0 * 16 * 8 * 16 : 32.0 * 32;
        const double warps = grid * (kCeilingThreads / 32.0);
        if (repeat >= 2) rates.push_back(of_warp * warps * kCeilingLoops / (1e-3 * milliseconds));
    }
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(end));
    check(cudaFree(out));
    std::sort(rates.begin(), rates.end());
    return rates[rates.size() / 2];
}

}  // namespace pleat::bench
