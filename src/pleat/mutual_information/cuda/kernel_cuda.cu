// The CUDA kernel: its launches and memory on one GPU.

#include <cstdint>
#include <memory>

#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/mutual_information/cuda/gpu_kernel.cuh"
#include "pleat/mutual_information/cuda/residue_steps.cuh"
#include "pleat/mutual_information/kernel/kernel.h"

namespace pleat::mutual_information::cuda {

// PTX ISA, "mma.sync", matrices of .b1: lane l has, of A, row l / 4 (a[0], a[2]) and l / 4 + 8
// (a[1], a[3]), of B column l / 4, each time word l % 4 of 32 bits (a[2], a[3] and b[1]: word
// l % 4 + 4); of the counts row l / 4 (c[0], c[1]) and l / 4 + 8 (c[2], c[3]), columns 2 (l % 4)
// and the next.

/// c += population count of (row of A and column of B), 16 rows by 8 columns of 128 bits.
__device__ __forceinline__ void multiply_bits(int (&c)[4], const std::uint32_t (&a)[2],
                                              const std::uint32_t (&b)[1]) {
    asm("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

/// The same of 256 bits.
__device__ __forceinline__ void multiply_bits(int (&c)[4], const std::uint32_t (&a)[4],
                                              const std::uint32_t (&b)[2]) {
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace pleat::mutual_information::cuda

namespace pleat::mutual_information {

std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context) {
    using pleat::cuda::CudaGpu;
    return std::make_unique<cuda::GpuKernel<CudaGpu>>(problem, CudaGpu(context.device.index));
}

std::unique_ptr<ResidueScorer> make_cuda_scorer(const ResidueScoring& scoring, int threads,
                                                const Context& context) {
    using pleat::cuda::CudaGpu;
    return std::make_unique<cuda::GpuResidueScorer<CudaGpu>>(scoring, threads,
                                                             CudaGpu(context.device.index));
}

}  // namespace pleat::mutual_information
