// Tensor-core steps of a warp as functions, for every GPU since compute capability 8.0.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

namespace pleat::couplings::cuda {

// Loads four 8 x 8 matrices of float16 from shared memory, transposed or not; lane 8 k + r gives
// the address of row r of the k-th matrix.
template <bool kTransposed>
__device__ __forceinline__ void load_matrices(std::uint32_t (&to)[4], const __half* row) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
    if constexpr (kTransposed) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(address)
                     : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(address)
                     : "memory");
    }
}

// c += a * b for 16 rows by 8 columns by 16; c has four elements.
__device__ __forceinline__ void multiply_add(float* c, const std::uint32_t (&a)[4],
                                             std::uint32_t b0, std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace pleat::couplings::cuda
