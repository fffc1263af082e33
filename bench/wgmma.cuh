// The instructions of compute capability 9.0 that multiply tiles in shared memory (wgmma).
//
// Tiles hold rows of 64 fp16 numbers (128 bytes) along the depth, each row's eight 16-byte pieces
// exchanged by its number (the 128-byte swizzle), and begin at multiples of 1024 bytes. Source: PTX
// ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Where the element of a tile lies, in elements.
__host__ __device__ constexpr int swizzled(int row, int depth) {
    return row * 64 + ((depth / 8) ^ (row % 8)) * 8 + depth % 8;
}

/// What the instruction wants to know of a tile: address, 1024 bytes from 8 rows to the next, the
/// swizzle. 16 elements further along the depth are 2 more.
__device__ __forceinline__ std::uint64_t descriptor(const __half* tile) {
    return std::uint64_t{(shared_address(tile) >> 4) & 0x3fff} | std::uint64_t{1} << 16 |
           std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 62;
}

/// Makes ordinary stores to shared memory visible to wgmma; a barrier must follow.
__device__ __forceinline__ void publish_to_wgmma() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Before the first product of a group, and after sums were touched otherwise.
__device__ __forceinline__ void wgmma_begin() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// Ends a group of products and waits for them.
__device__ __forceinline__ void wgmma_end() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// The operands of the instruction, by tens and eights.
#define TEN(t)                                                                             \
    "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t \
    "8, %" #t "9, "
#define EIGHT(k)                                                                                \
    "+f"(d[k]), "+f"(d[k + 1]), "+f"(d[k + 2]), "+f"(d[k + 3]), "+f"(d[k + 4]), "+f"(d[k + 5]), \
        "+f"(d[k + 6]), "+f"(d[k + 7])

/// d (64 x 256, over the threads of a warp group) += A (64 x 16) times B (256 x 16) transposed.
__device__ __forceinline__ void wgmma_64x256x16(float (&d)[128], std::uint64_t a, std::uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, "
        "%9, " TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10)
            TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, 1, 1, 1, 0, 0;"
        : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56),
          EIGHT(64), EIGHT(72), EIGHT(80), EIGHT(88), EIGHT(96), EIGHT(104), EIGHT(112), EIGHT(120)
        : "l"(a), "l"(b));
}

#undef TEN
#undef EIGHT
