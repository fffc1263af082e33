// One-hot products on Hopper (wgmma): letters in registers times tiles that one thread copies
// ahead.

#include <cstdint>
#include <type_traits>

#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/couplings/cuda/one_hot_product.cuh"

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

namespace {

// Two warpgroups compute 64 rows each of 256 columns; one thread of a third warpgroup copies.
constexpr int kConsumers = 256, kThreads = kConsumers + 128;
constexpr int kStages = 5, kHalves = kTileColumns / kDenseTileColumns;
constexpr int kDenseBytes = kHalves * kDenseTile * 2;
constexpr int kLetterBytes = kMaxStaged * kTileDepth * 2;
// Registers per thread: the copying warps give registers to the multiplying ones. Asking for more
// than the CTA started with (a multiple of 8 per thread) would wait for ever.
constexpr int kCopyRegisters = 40, kMultiplyRegisters = 232;
constexpr int kStartRegisters = 65536 / kThreads / 8 * 8;
static_assert((kThreads - kConsumers) * kCopyRegisters + kConsumers * kMultiplyRegisters <=
              kThreads * kStartRegisters);
constexpr int kSharedBytes = 1024 + kStages * (kDenseBytes + kLetterBytes + 16);

struct Shared {
    unsigned char* dense;    // [stage], aligned to 1024 bytes
    unsigned char* letters;  // [stage]
    std::uint64_t *full, *empty;

    __device__ explicit Shared(unsigned char* raw) {
        dense = raw + (1024 - shared_address(raw) % 1024) % 1024;
        letters = dense + kStages * kDenseBytes;
        full = reinterpret_cast<std::uint64_t*>(letters + kStages * kLetterBytes);
        empty = full + kStages;
    }
};

template <bool kTransposed>
__device__ __forceinline__ void copy_ahead(const OneHotProduct& p, int part, const Shared& shared,
                                           Index row_tile, Index column_tile) {
    const int steps = static_cast<int>(p.depth_tiles);
    const int staged = staged_columns<kTransposed>(p.letters.row);
    const Index first_row = p.first_row + row_tile * kTileRows;
    const Index dense_row = p.depth_tiles * p.parts;
    const Index first_tile = column_tile * kHalves * dense_row + p.depth_tiles * part;
    for (int step = 0; step < steps; ++step) {
        const int stage = step % kStages, use = step / kStages;
        if (use > 0) wait_barrier(shared.empty + stage, (use - 1) & 1);
        std::uint64_t* full = shared.full + stage;
        unsigned char* letters = shared.letters + stage * kLetterBytes;
        constexpr int kTiles = kTransposed ? 1 : kTileRows / kTileDepth;
        expect_bytes(full, kDenseBytes + kTiles * staged * kTileDepth * 2);
        for (int tile = 0; tile < kTiles; ++tile) {
            const Index sequences = kTransposed ? step : first_row / kTileDepth + tile;
            const Index column =
                (kTransposed ? first_row : Index{step} * kTileDepth) / p.letters.row;
            copy_bytes(letters + tile * staged * kTileDepth * 2,
                       p.letters.data + (sequences * p.letters.columns + column) * kTileDepth,
                       staged * kTileDepth * 2, full);
        }
        for (int half = 0; half < kHalves; ++half) {
            copy_bytes(shared.dense + stage * kDenseBytes + half * kDenseTile * 2,
                       p.dense + (first_tile + half * dense_row + step) * kDenseTile,
                       kDenseTile * 2, full);
        }
    }
}

// The work of one warpgroup. While the tensor cores compute one step, it makes the letters of the
// next.
template <bool kTransposed, class Letters>
__device__ __forceinline__ void consume(const OneHotProduct& p, int part, const Shared& shared,
                                        Index row_tile, Index column_tile) {
    const int group = threadIdx.x / 128, warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
    const int row_in_tile = group * 64 + warp * 16 + lane / 4;
    const int steps = static_cast<int>(p.depth_tiles);
    Letters letters(p, row_tile, row_in_tile);
    float sum[kHalves][64] = {};
    const auto make = [&](std::uint32_t(&a)[4][4], int step) {
        const int stage = step % kStages;
        wait_barrier(shared.full + stage, step / kStages & 1);
        letters.make(reinterpret_cast<const std::uint16_t*>(shared.letters + stage * kLetterBytes),
                     a);
    };
    const auto multiply = [&](const std::uint32_t(&a)[4][4], int step) {
        const unsigned char* dense = shared.dense + step % kStages * kDenseBytes;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < 4; ++k) {
#pragma unroll
            for (int half = 0; half < kHalves; ++half) {
                multiply_add(sum[half], a[k], tile_descriptor(dense + half * kDenseTile * 2, k));
            }
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    };
    const auto release = [&](int step) {  // this thread no longer needs the stage
        arrive(shared.empty + step % kStages);
    };
    const auto await_all_but_latest = [] {
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    };
    std::uint32_t even[4][4], odd[4][4];
    make(even, 0);
    for (int step = 0; step < steps; step += 2) {
        multiply(even, step);
        await_all_but_latest();
        if (step > 0) release(step - 1);
        if (step + 1 == steps) break;
        make(odd, step + 1);
        multiply(odd, step + 1);
        await_all_but_latest();
        release(step);
        if (step + 2 < steps) make(even, step + 2);
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
        store<kTransposed, kDenseTileColumns>(
            p, row_tile * kTileRows + row_in_tile,
            column_tile * kTileColumns + half * kDenseTileColumns + lane % 4 * 2, part > 0,
            sum[half]);
    }
}

// CTAs that run at the same time use the same columns of the dense matrix, which are then cached.
template <bool kTransposed>
__global__ void __launch_bounds__(kThreads, 1)
    multiply_one_hot(const __grid_constant__ OneHotProduct p, int part) {
    PLEAT_DYNAMIC_SHARED(unsigned char, raw);
    const Shared shared(raw);
    const Index row_tiles = p.rows / kTileRows;
    const Index row_tile = blockIdx.x % row_tiles, column_tile = blockIdx.x / row_tiles;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < kStages; ++stage) {
            start_barrier(shared.full + stage, 1);
            start_barrier(shared.empty + stage, kConsumers);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x >= kConsumers) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCopyRegisters));
        if (threadIdx.x == kConsumers)
            copy_ahead<kTransposed>(p, part, shared, row_tile, column_tile);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kMultiplyRegisters));
        using Letters = std::conditional_t<kTransposed, LetterRows, SequenceRows>;
        consume<kTransposed, Letters>(p, part, shared, row_tile, column_tile);
    }
}

}  // namespace

void multiply_on_hopper(const pleat::cuda::CudaGpu& gpu, const OneHotProduct& product) {
    using pleat::cuda::Sides;
    const auto kernel = product.transposed ? &multiply_one_hot<true> : &multiply_one_hot<false>;
    const Index tiles = product.rows / kTileRows * (product.columns / kTileColumns);
    for (int part = 0; part < product.parts; ++part) {
        gpu.launch("multiply one-hot letters", kernel, Sides{tiles}, Sides{kThreads}, kSharedBytes,
                   product, part);
    }
}

}  // namespace pleat::couplings::cuda
