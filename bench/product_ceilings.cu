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
template <class T>
__global__ void __launch_bounds__(kCeilingThreads) add_products(T seed, float* out) {
    T sums[32];
    const T a = seed + threadIdx.x, b = T(0.999) - T(1e-6) * threadIdx.x;
#pragma unroll
    for (int n = 0; n < 32; ++n) sums[n] = a + n;
    for (int loop = 0; loop < kCeilingLoops; ++loop)
#pragma unroll
        for (int n = 0; n < 32; ++n) sums[n] = sums[n] * b + a;
    T sum = 0;
#pragma unroll
    for (int n = 0; n < 32; ++n) sum += sums[n];
    out[blockIdx.x * kCeilingThreads + threadIdx.x] = static_cast<float>(sum);
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

/// 8 independent sums of mma.m8n8k4 of float64 a warp.
__global__ void __launch_bounds__(kCeilingThreads) add_double_products(double seed, float* out) {
    double sums[8][2] = {};
    const double a = seed + threadIdx.x, b = 0.999 - 1e-6 * threadIdx.x;
    for (int loop = 0; loop < kCeilingLoops; ++loop)
#pragma unroll
        for (int n = 0; n < 8; ++n)
            asm volatile(
                "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                : "+d"(sums[n][0]), "+d"(sums[n][1])
                : "d"(a), "d"(b));
    double sum = 0;
    for (auto& two : sums) sum += two[0] + two[1];
    out[blockIdx.x * kCeilingThreads + threadIdx.x] = static_cast<float>(sum);
}

/// Launches the kernel, and returns how many multiply-adds a warp makes in a loop.
double start(Product product, int grid, float* out) {
    switch (product) {
        case Product::float32: add_products<<<grid, kCeilingThreads>>>(1.0f, out); return 32.0 * 32;
        case Product::float64: add_products<<<grid, kCeilingThreads>>>(1.0, out); return 32.0 * 32;
        case Product::float16_tensor:
            add_half_products<<<grid, kCeilingThreads>>>(7u, out);
            return 8.0 * 16 * 8 * 16;
        case Product::float64_tensor:
            add_double_products<<<grid, kCeilingThreads>>>(1.0, out);
            return 8.0 * 8 * 8 * 4;
    }
    return 0.0;
}

}  // namespace

double multiply_adds_a_second(Product product) {
    int processors = 0;
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    const int grid = processors * 8;
    float* out = nullptr;
    check(cudaMalloc(&out, sizeof(float) * grid * kCeilingThreads));
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    std::vector<double> rates;
    for (int repeat = 0; repeat < 7; ++repeat) {
        check(cudaEventRecord(begin));
        const double of_warp = start(product, grid, out);
        check(cudaGetLastError());
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin, end));
        const double warps = grid * (kCeilingThreads / 32.0);
        if (repeat >= 2) rates.push_back(of_warp * warps * kCeilingLoops / (1e-3 * milliseconds));
    }
    check(cudaEventDestroy(begin));
    check(cudaEventDestroy(end));
    check(cudaFree(out));
    std::sort(rates.begin(), rates.end());
    return rates[rates.size() / 2];
}

}  // namespace pleat::bench
