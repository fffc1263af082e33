// Hopper steps: barriers, bulk copies and warpgroup products, which only Hopper has, as functions.
#pragma once

#include <cstdint>

namespace pleat::couplings::cuda {

__device__ __forceinline__ std::uint32_t shared_address(const void* at) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}

__device__ __forceinline__ void start_barrier(std::uint64_t* barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(arrivals)
                 : "memory");
}

// Arrives at the barrier and announces this many bytes of copies.
__device__ __forceinline__ void expect_bytes(std::uint64_t* barrier, std::uint32_t bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
        "r"(bytes)
        : "memory");
}

__device__ __forceinline__ void arrive(std::uint64_t* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
                 : "memory");
}

__device__ __forceinline__ void wait_barrier(std::uint64_t* barrier, std::uint32_t parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "wait: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra wait;\n"
        "}" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
}

// Copies from global to shared memory, all aligned to 16 bytes; the barrier counts the bytes.
__device__ __forceinline__ void copy_bytes(void* to, const void* from, std::uint32_t bytes,
                                           std::uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
}

// The descriptor of the k-th piece of 16 of the inner index, in a tile with rows of 64 float16
// numbers in the 128-byte swizzle: address, 1024 bytes from one group of 8 rows to the next, kind
// of swizzle.
__device__ __forceinline__ std::uint64_t tile_descriptor(const void* tile, int k) {
    const std::uint64_t address = shared_address(tile) >> 4 & 0x3FFF;
    return (address + 2 * k) | std::uint64_t{1} << 16 | std::uint64_t{1024 >> 4} << 32 |
           std::uint64_t{1} << 62;
}

// d += a * tile for 64 rows by 128 columns by 16, with the warpgroup's `a` in registers.
__device__ __forceinline__ void multiply_add(float (&d)[64], const std::uint32_t (&a)[4],
                                             std::uint64_t tile) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
        "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
          "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
          "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
          "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
          "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
          "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
          "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
          "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
          "+f"(d[63])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(tile));
}

}  // namespace pleat::couplings::cuda
