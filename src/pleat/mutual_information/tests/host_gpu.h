// The GPU of mutual information's tests: the host, with its one-bit products.
#pragma once

#include "pleat/core/tests/host_gpu.h"  // before the kernels

#include "pleat/mutual_information/cuda/count_steps.cuh"

namespace pleat::mutual_information::cuda {

/// A lane's words of two matrices.
struct Fragments {
    std::uint32_t a[4], b[2];
};

/// One-bit products as mma.sync defines them for a warp, with kWords words of 32 bits a lane of
/// each row and column: PTX ISA, "Matrix fragments for mma.m16n8k128", and "for mma.m16n8k256".
template <std::size_t kWords>
void multiply_bits_on_host(int (&c)[4], const std::uint32_t (&a)[2 * kWords],
                           const std::uint32_t (&b)[kWords]) {
    Fragments mine{};
    std::copy(a, a + 2 * kWords, mine.a);
    std::copy(b, b + kWords, mine.b);
    const unsigned lane = threadIdx.x;
    const Fragments* all = pleat::test::Machine::only().exchange(mine);
    for (unsigned n = 0; n < 4; ++n) {
        const unsigned row = lane / 4 + (n >= 2 ? 8 : 0), column = lane % 4 * 2 + n % 2;
        for (unsigned word = 0; word < 4 * kWords; ++word) {
            const std::uint32_t of_a = all[row % 8 * 4 + word % 4].a[word / 4 * 2 + row / 8];
            const std::uint32_t of_b = all[column * 4 + word % 4].b[word / 4];
            c[n] += std::popcount(of_a & of_b);
        }
    }
}

// What kernel_cuda.cu has of tensor cores.
inline void multiply_bits(int (&c)[4], const std::uint32_t (&a)[2], const std::uint32_t (&b)[1]) {
    multiply_bits_on_host<1>(c, a, b);
}
inline void multiply_bits(int (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    multiply_bits_on_host<2>(c, a, b);
}

}  // namespace pleat::mutual_information::cuda

#include "pleat/mutual_information/cuda/gpu_kernel.cuh"

namespace pleat::mutual_information {

using test::HostGpu;
using test::HostGpuState;

}  // namespace pleat::mutual_information
