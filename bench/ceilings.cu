// Measures what one GPU gives at most: fp16 products, copies in its memory, reads of its cache.
//
// bench_ceilings prints JSON; with --empty it only starts CUDA, so that its time as a whole program
// is the least that any program on this machine can take. The products take the instructions of
// compute capability 9.0 (wgmma); on another GPU the program says so.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "wgmma.cuh"

namespace {

constexpr int kRepeats = 5;
constexpr double kMostDifference = 1e-2;  // of sums of 256 products of numbers below 1
constexpr double kProductSeconds = 0.05, kWarmSeconds = 0.2;

/// Ends the program where a CUDA call failed.
void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: expected success, found %s\n", what, cudaGetErrorString(status));
    std::exit(4);
}

template <class T>
T* allocate(std::size_t count) {
    T* memory = nullptr;
    check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
    return memory;
}

/// Seconds of `work` on the GPU, by its own clock.
template <class Work>
double seconds(const Work& work) {
    cudaEvent_t start, end;
    check(cudaEventCreate(&start), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
    check(cudaEventRecord(start), "cudaEventRecord");
    work();
    check(cudaGetLastError(), "kernel launch");
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaEventSynchronize(end), "kernel");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, end), "cudaEventElapsedTime");
    check(cudaEventDestroy(start), "cudaEventDestroy");
    check(cudaEventDestroy(end), "cudaEventDestroy");
    return 1e-3 * milliseconds;
}

template <class Work>
double median_seconds(const Work& work) {
    std::vector<double> samples;
    for (int repeat = 0; repeat < kRepeats; ++repeat) samples.push_back(seconds(work));
    std::sort(samples.begin(), samples.end());
    return samples[kRepeats / 2];
}

// ---- products ----------------------------------------------------------------------------------
// Two warp groups a block share a B tile of 256 x 64 and have an A tile of 64 x 64 each; kStages
// such sets lie in shared memory and are multiplied over and over. Nothing else is read or written,
// so that only the tensor cores and their reads of shared memory are timed.

constexpr int kGroups = 2, kStages = 4, kDepth = 64, kRows = 64, kColumns = 256;
constexpr int kTileA = kRows * kDepth, kTileB = kColumns * kDepth;  // elements
constexpr int kStage = kGroups * kTileA + kTileB;                   // elements
constexpr int kSharedBytes = kStages * kStage * 2 + 1024;           // tiles begin at 1024 bytes
// Operations of one block in one loop.
constexpr double kOperations = 2.0 * kGroups * kRows * kColumns * kDepth * kStages;

enum class Letters : int { random, one_hot };

/// A number in [-1, 1) that depends on its place alone.
__host__ __device__ float noise(std::uint32_t place) {
    std::uint32_t x = place * 2654435761u + 12345u;
    x = (x ^ (x >> 15)) * 2246822519u;
    x = (x ^ (x >> 13)) * 3266489917u;
    return static_cast<float>(x >> 8) / 8388608.0f - 1.0f;
}

/// Element of A: noise, or for one-hot a 1 at one of each 20 elements along the depth.
__host__ __device__ float element_a(Letters kind, int stage, int row, int depth) {
    if (kind == Letters::random) return noise((stage * 128 + row) * 64 + depth);
    const int at = stage * kDepth + depth;
    const float letter = 10.0f * (noise(row * 1024 + at / 20) + 1.0f);
    return static_cast<int>(letter) == at % 20 ? 1.0f : 0.0f;
}

__host__ __device__ float element_b(int stage, int column, int depth) {
    return noise((1 << 20) + (stage * kColumns + column) * 64 + depth);
}

__global__ void __launch_bounds__(kGroups * 128, 1) multiply(Letters kind, int loops, float* out) {
    extern __shared__ unsigned char raw[];
    unsigned char* aligned = raw + (1024 - (shared_address(raw) & 1023)) % 1024;
    __half* tiles = reinterpret_cast<__half*>(aligned);
    for (int k = threadIdx.x; k < kStages * kStage; k += blockDim.x) {
        const int stage = k / kStage, in_stage = k % kStage;
        const bool is_a = in_stage < kGroups * kTileA;
        const int at = is_a ? in_stage : in_stage - kGroups * kTileA;
        const int row = at / kDepth, depth = at % kDepth;
        const float value =
            is_a ? element_a(kind, stage, row, depth) : element_b(stage, row, depth);
        tiles[k - at + swizzled(row, depth)] = __float2half(value);
    }
    publish_to_wgmma();
    __syncthreads();

    const int group = threadIdx.x / 128;
    float sum[128];
    for (float& value : sum) value = 0;
    for (int loop = 0; loop < loops; ++loop) {
        wgmma_begin();
#pragma unroll
        for (int stage = 0; stage < kStages; ++stage) {
            const std::uint64_t a = descriptor(tiles + stage * kStage + group * kTileA);
            const std::uint64_t b = descriptor(tiles + stage * kStage + kGroups * kTileA);
#pragma unroll
            for (int k = 0; k < kDepth / 16; ++k) wgmma_64x256x16(sum, a + 2 * k, b + 2 * k);
        }
        wgmma_end();
    }
    // As the instruction lays its sums out: of 8 columns, two neighbours in each of two rows.
    const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
    const int row = group * kRows + warp * 16 + lane / 4;
#pragma unroll
    for (int k = 0; k < 128; ++k) {
        const int column = k / 4 * 8 + lane % 4 * 2 + k % 2;
        out[(blockIdx.x * kGroups * kRows + row + k / 2 % 2 * 8) * std::size_t{kColumns} + column] =
            sum[k];
    }
}

/// Largest difference of the first block's sums from those in double precision.
double difference(Letters kind, const float* out) {
    std::vector<float> found(kGroups * kRows * kColumns);
    check(cudaMemcpy(found.data(), out, found.size() * sizeof(float), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    double largest = 0;
    for (int row = 0; row < kGroups * kRows; ++row) {
        for (int column = 0; column < kColumns; ++column) {
            double sum = 0;
            for (int k = 0; k < kStages * kDepth; ++k) {
                const int stage = k / kDepth, depth = k % kDepth;
                const auto a = __half2float(__float2half(element_a(kind, stage, row, depth)));
                const auto b = __half2float(__float2half(element_b(stage, column, depth)));
                sum += static_cast<double>(a) * b;
            }
            largest = std::max(largest, std::abs(found[row * kColumns + column] - sum));
        }
    }
    return largest;
}

/// Operations a second of dense products; ends the program where the products are wrong.
double product_rate(Letters kind, int processors) {
    check(cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes),
          "cudaFuncSetAttribute");
    float* out = allocate<float>(std::size_t(processors) * kGroups * kRows * kColumns);
    const auto work = [&](int loops) {
        multiply<<<processors, kGroups * 128, kSharedBytes>>>(kind, loops, out);
    };
    seconds([&] { work(1); });
    if (const double off = difference(kind, out); !(off < kMostDifference)) {
        std::fprintf(stderr, "products: expected those of the host to %g, found %g off\n",
                     kMostDifference, off);
        std::exit(1);
    }
    // The making of the tiles counts too; it is little against a thousand loops.
    const double once = seconds([&] { work(1000); }) / 1000;
    seconds([&] { work(static_cast<int>(kWarmSeconds / once)); });
    const int loops = static_cast<int>(kProductSeconds / once);
    const double taken = median_seconds([&] { work(loops); });
    check(cudaFree(out), "cudaFree");
    return kOperations * processors * loops / taken;
}

// ---- memory ------------------------------------------------------------------------------------

/// Bytes read and written a second by copies within the GPU's memory.
double copy_rate() {
    constexpr std::size_t kBytes = std::size_t{2} << 30;
    char* from = allocate<char>(kBytes);
    char* to = allocate<char>(kBytes);
    const auto work = [&] {
        for (int k = 0; k < 8; ++k)
            check(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
    };
    work();
    const double taken = median_seconds(work);
    check(cudaFree(from), "cudaFree");
    check(cudaFree(to), "cudaFree");
    return 8 * 2.0 * kBytes / taken;
}

constexpr std::size_t kCached = (std::size_t{16} << 20) / sizeof(float4);
constexpr int kPasses = 200;

__global__ void read_cached(const float4* from, float* out) {
    float sum = 0;
    for (int pass = 0; pass < kPasses; ++pass) {
        for (std::size_t k = blockIdx.x * blockDim.x + threadIdx.x; k < kCached;
             k += gridDim.x * blockDim.x) {
            // __ldcg goes past the first-level cache.
            const float4 value = __ldcg(from + (k ^ (pass & 7) * 32));
            sum += value.x + value.y + value.z + value.w;
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// Bytes read a second from 16 MiB that stay in the L2 cache.
double cache_rate(int processors) {
    float4* from = allocate<float4>(kCached);
    float* out = allocate<float>(std::size_t(processors) * 2048);
    check(cudaMemset(from, 0, kCached * sizeof(float4)), "cudaMemset");
    const auto work = [&] { read_cached<<<2 * processors, 1024>>>(from, out); };
    work();
    const double taken = median_seconds(work);
    check(cudaFree(from), "cudaFree");
    check(cudaFree(out), "cudaFree");
    return 1.0 * kPasses * kCached * sizeof(float4) / taken;
}

}  // namespace

// bench_ceilings [--empty]
int main(int argc, char** argv) {
    check(cudaSetDevice(0), "cudaSetDevice");
    check(cudaFree(nullptr), "start of CUDA");
    if (argc == 2 && std::strcmp(argv[1], "--empty") == 0) return 0;
    if (argc != 1) {
        std::fprintf(stderr, "expected no argument or --empty, found '%s'\n", argv[1]);
        return 2;
    }
    cudaDeviceProp gpu;
    check(cudaGetDeviceProperties(&gpu, 0), "cudaGetDeviceProperties");
    if (gpu.major != 9 || gpu.minor != 0) {
        std::printf(
            "{\"gpu\": \"%s\", \"absent\": \"compute capability %d.%d: the ceilings are "
            "measured on 9.0 only\"}\n",
            gpu.name, gpu.major, gpu.minor);
        return 0;
    }
    const int processors = gpu.multiProcessorCount;
    std::printf("{\"gpu\": \"%s\", \"processors\": %d,\n", gpu.name, processors);
    std::printf(" \"fp16_random_operations_per_s\": %.6g,\n",
                product_rate(Letters::random, processors));
    std::printf(" \"fp16_one_hot_operations_per_s\": %.6g,\n",
                product_rate(Letters::one_hot, processors));
    std::printf(" \"memory_copy_bytes_per_s\": %.6g,\n", copy_rate());
    std::printf(" \"l2_read_bytes_per_s\": %.6g}\n", cache_rate(processors));
    return 0;
}
