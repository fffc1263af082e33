// One-hot products on Hopper (wgmma): letters in registers times tiles that one thread copies
// ahead.
#include <type_traits>

#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/couplings/cuda/hopper_steps.cuh"
#include "pleat/couplings/cuda/one_hot_letters.cuh"
#include "pleat/couplings/cuda/one_hot_product.cuh"

namespace pleat::couplings::cuda {

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
