// One-hot products: letters times a dense matrix on tensor cores, without ever storing the one-hot.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

#include "pleat/core/view.h"
#include "pleat/couplings/cuda_layout.h"

namespace pleat::couplings::cuda {

// Warps own 48 x 96 of the result: 48 rows are two protein columns of 24 letters or six nucleic
// ones of 8, 96 columns of the result are four or twelve target columns. Eight warps are stacked by
// rows.
constexpr int kWarps = 8, kWarpRows = 48;
static_assert(kTileRows == kWarps * kWarpRows);
constexpr int kThreads = 32 * kWarps;
constexpr int kStages = 4;
constexpr int kFlushSteps = 24;           // 1152 sequences
constexpr int kPitch = kTileColumns + 8;  // bf16 of one staged row: 8 more avoid bank conflicts

// A matrix of float values as two bf16 parts whose sum has 16 bits of the value.
struct SplitMatrix {
    const __nv_bfloat16* high;
    const __nv_bfloat16* low;
    Index pitch;
};

__device__ __forceinline__ void copy_async(void* to, const void* from) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from));
}

__device__ __forceinline__ void load_fragments(std::uint32_t (&b)[4], const __nv_bfloat16* at) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                 : "r"(address));
}

__device__ __forceinline__ void multiply_add(float (&c)[4], const std::uint32_t (&a)[4],
                                             std::uint32_t b0, std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// 1.0 where two letters (as bf16) are equal, else 0: one instruction makes two elements of the
// one-hot.
__device__ __forceinline__ std::uint32_t equal(std::uint32_t x, std::uint32_t y) {
    std::uint32_t result;
    asm("set.eq.bf16x2.bf16x2 %0, %1, %2;" : "=r"(result) : "r"(x), "r"(y));
    return result;
}

// Letters are stored as bf16 numbers of these bits plus their code: 1.0 and just above. Padding is
// -1.0, which no letter equals.
constexpr std::uint32_t kLetterBits = 0x3F80, kNoLetter = 0xBF80;

__device__ __forceinline__ std::uint32_t letter_pair(int first, int second) {
    return (kLetterBits + first) | (kLetterBits + second) << 16;
}

// The staged pieces of one step: 48 rows of the dense matrix in two parts, and the letters they
// meet.
template <int kRow, bool kScatter>
struct Stage {
    static constexpr int kLetterRows = kScatter ? kTileRows / kRow : kWarpRows / kRow;
    static constexpr int kLetterPitch = kScatter ? kWarpRows + 8 : kTileRows;
    __nv_bfloat16 part[2][kWarpRows][kPitch];
    __nv_bfloat16 letters[kLetterRows][kLetterPitch];
};

// Letters as bf16 bits, [column, position], both padded.
struct LetterMatrix {
    const __nv_bfloat16* data;
    Index pitch;
};

template <int kRow, bool kScatter>
__device__ __forceinline__ void load_stage(Stage<kRow, kScatter>& stage,
                                           const LetterMatrix& letters, const SplitMatrix& dense,
                                           Index step) {
    using S = Stage<kRow, kScatter>;
    constexpr int kChunks = kTileColumns / 8;  // of 16 bytes
    const Index column = static_cast<Index>(blockIdx.y) * kTileColumns;
#pragma unroll 1
    for (int c = threadIdx.x; c < 2 * kWarpRows * kChunks; c += kThreads) {
        const int part = c / (kWarpRows * kChunks), row = c / kChunks % kWarpRows,
                  at = c % kChunks * 8;
        const __nv_bfloat16* from = part == 0 ? dense.high : dense.low;
        copy_async(&stage.part[part][row][at],
                   from + (step * kWarpRows + row) * dense.pitch + column + at);
    }
    constexpr int kLetters = kScatter ? kWarpRows : kTileRows;
#pragma unroll 1
    for (int c = threadIdx.x; c < S::kLetterRows * kLetters / 8; c += kThreads) {
        const int row = c / (kLetters / 8), at = c % (kLetters / 8) * 8;
        const Index j = (kScatter ? static_cast<Index>(blockIdx.x) : step) * S::kLetterRows + row;
        const Index n =
            (kScatter ? step * kWarpRows : static_cast<Index>(blockIdx.x) * kTileRows) + at;
        copy_async(&stage.letters[row][at], letters.data + j * letters.pitch + n);
    }
}

// The warp's one-hot rows for 16 steps of the inner index, from the staged letters.
template <int kRow, bool kScatter>
__device__ __forceinline__ void make_one_hot(const Stage<kRow, kScatter>& stage, int s,
                                             std::uint32_t (&a)[3][4]) {
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int m = 0; m < 3; ++m) {
#pragma unroll
        for (int r = 0; r < 4; ++r) {  // r & 1: rows g or g + 8; r / 2: inner index 2 t or 2 t + 8
            if constexpr (kScatter) {
                const int half = warp * 6 + 2 * m + (r & 1);
                const int b = half * 8 % kRow + g;
                const auto x = *reinterpret_cast<const std::uint32_t*>(
                    &stage.letters[half * 8 / kRow][s * 16 + r / 2 * 8 + 2 * t]);
                a[m][r] = equal(x, letter_pair(b, b));
            } else {
                const int half = 2 * s + r / 2;
                const int b = half * 8 % kRow + 2 * t;
                const std::uint32_t x = reinterpret_cast<const std::uint16_t&>(
                    stage.letters[half * 8 / kRow][warp * kWarpRows + m * 16 + (r & 1) * 8 + g]);
                a[m][r] = equal(x | x << 16, letter_pair(b, b + 1));
            }
        }
    }
}

/// kScatter false: out[n][(i,a)] = sum_j dense[(j, x_j^n)][(i,a)] over the sequences n (grid.x:
/// tiles of 384 sequences; `steps` of 48 rows (j,b)). True, its transpose: out[(j,b)][(i,a)] =
/// sum_n [x_j^n = b] dense[n][(i,a)] (grid.x: tiles of 384 rows (j,b); `steps` of 48 sequences).
/// grid.y: tiles of 96 columns (i,a). Products are exact, sums are float.
template <int kRow, bool kScatter>
__global__ void __launch_bounds__(kThreads, 1)
    one_hot_product(LetterMatrix letters, SplitMatrix dense, Index steps, float* out,
                    Index out_pitch) {
    extern __shared__ __align__(128) unsigned char shared[];
    auto* stages = reinterpret_cast<Stage<kRow, kScatter>*>(shared);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum[3][12][4] = {};
    for (int k = 0; k < kStages - 1; ++k) {
        if (k < steps) load_stage(stages[k], letters, dense, k);
        asm volatile("cp.async.commit_group;");
    }
    bool flushed = false;
    const auto flush = [&] {
        const int g = lane / 4, t = lane % 4;
#pragma unroll
        for (int m = 0; m < 3; ++m) {
#pragma unroll
            for (int n = 0; n < kTileColumns / 8; ++n) {
                const Index row =
                    static_cast<Index>(blockIdx.x) * kTileRows + warp * kWarpRows + m * 16 + g;
                const Index column = static_cast<Index>(blockIdx.y) * kTileColumns + n * 8 + 2 * t;
                auto* top = reinterpret_cast<float2*>(out + row * out_pitch + column);
                auto* bottom = reinterpret_cast<float2*>(out + (row + 8) * out_pitch + column);
                float2 x = {sum[m][n][0], sum[m][n][1]}, y = {sum[m][n][2], sum[m][n][3]};
                if (flushed) {
                    const float2 u = *top, v = *bottom;
                    x = {x.x + u.x, x.y + u.y};
                    y = {y.x + v.x, y.y + v.y};
                }
                *top = x;
                *bottom = y;
#pragma unroll
                for (int k = 0; k < 4; ++k) sum[m][n][k] = 0;
            }
        }
        flushed = true;
    };
    for (Index step = 0; step < steps; ++step) {
        // Tensor cores cut what does not fit a float; sums of many sequences are rounded properly
        // here.
        if (kScatter && step > 0 && step % kFlushSteps == 0) flush();
        asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2));
        __syncthreads();
        if (step + kStages - 1 < steps) {
            load_stage(stages[(step + kStages - 1) % kStages], letters, dense, step + kStages - 1);
        }
        asm volatile("cp.async.commit_group;");
        const auto& stage = stages[step % kStages];
#pragma unroll
        for (int s = 0; s < 3; ++s) {
            std::uint32_t a[3][4];
            make_one_hot<kRow, kScatter>(stage, s, a);
#pragma unroll
            for (int n = 0; n < kTileColumns / 16; ++n) {
#pragma unroll
                for (int part = 0; part < 2; ++part) {
                    std::uint32_t b[4];
                    load_fragments(b,
                                   &stage.part[part][s * 16 + lane % 16][n * 16 + lane / 16 * 8]);
#pragma unroll
                    for (int m = 0; m < 3; ++m) {
                        multiply_add(sum[m][2 * n], a[m], b[0], b[1]);
                        multiply_add(sum[m][2 * n + 1], a[m], b[2], b[3]);
                    }
                }
            }
        }
    }
    flush();
}

}  // namespace pleat::couplings::cuda
