// Instructions of a GPU that CUDA C++ cannot express; core/tests/instructions_on_host.h has the
// same for the host, so kernels include neither.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

/// Declares the dynamic shared memory of the CTA, an array of T. A macro, since a function that
/// returns it changes the machine code of large kernels.
#define PLEAT_DYNAMIC_SHARED(T, name) extern __shared__ T name[]

namespace pleat::cuda {

/// Begins to copy 16 bytes from global to shared memory, past the first cache.
__device__ __forceinline__ void copy_async(void* to, const void* from) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}

/// Ends a group of copies of this thread.
__device__ __forceinline__ void end_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until all groups of this thread but the newest kLeft are there.
template <int kLeft>
__device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

/// Loads four 8 x 8 matrices of float16 from shared memory, transposed or not; lane 8 k + r gives
/// the address of row r of the k-th matrix.
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

/// c += a * b of float16 numbers for 16 rows by 8 columns by 16, on tensor cores; c has four
/// elements.
__device__ __forceinline__ void multiply_halves(float* c, const std::uint32_t (&a)[4],
                                                std::uint32_t b0, std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// c += a * b of float64 numbers for 8 rows by 8 columns by 4, on tensor cores (compute capability
/// 8.0); c has two elements. Lane 4 g + t gives row g of a and column g of b, both at t, and gets
/// of row g the columns 2 t and 2 t + 1.
__device__ __forceinline__ void multiply_doubles(double* c, double a, double b) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a), "d"(b));
}

/// Compares two pairs of float16 numbers: 1.0 where they are equal, else 0.
__device__ __forceinline__ std::uint32_t equal_halves(std::uint32_t x, std::uint32_t y) {
    std::uint32_t result;
    asm("set.eq.f16x2.f16x2 %0, %1, %2;" : "=r"(result) : "r"(x), "r"(y));
    return result;
}

/// rsqrtf() without its handling of denormal numbers.
__device__ __forceinline__ float rough_inverse_root(float value) {
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
}

/// 1 / value, with an error of one unit in the last place.
__device__ __forceinline__ float rough_inverse(float value) {
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
}

}  // namespace pleat::cuda
