// The CUDA kernels of rmsd: instructions of the GPU, its clock, and the choice among formats.
#include <cuda_runtime.h>

#include <memory>
#include <utility>

#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/core/cuda/timer.cuh"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/cuda/gpu_gromos.cuh"
#include "pleat/rmsd/cuda/gpu_kernel.cuh"
#include "pleat/rmsd/cuda/pair_kernel.cuh"

namespace pleat::rmsd {

namespace {

/// GPU instructions that C++ cannot express.
struct GpuMachine {
    template <class T>
    static __device__ __forceinline__ T* shared() {
        extern __shared__ __align__(16) unsigned char tile_memory[];
        return reinterpret_cast<T*>(tile_memory);
    }
    /// Begins to copy 16 bytes from global to shared memory, past the first cache.
    static __device__ __forceinline__ void copy(cuda::Words* to, const cuda::Words* from) {
        const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from)
                     : "memory");
    }
    static __device__ __forceinline__ void end_group() {
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    /// Waits until all groups but the newest kLeft are there.
    template <int kLeft>
    static __device__ __forceinline__ void wait_for_groups() {
        asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
    }
    /// c += a b for 16 rows, 8 columns and 16 atoms.
    static __device__ __forceinline__ void multiply_add(float& c0, float& c1, float& c2, float& c3,
                                                        const cuda::Words& a, std::uint32_t b0,
                                                        std::uint32_t b1) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
            : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
    }
};

/// A GPU whose work is timed from launch to end, without copies.
class TimedGpu : public pleat::cuda::CudaGpu {
public:
    TimedGpu(int index, double* seconds) : CudaGpu(index), seconds_(seconds) {}

    template <class... Arguments>
    void launch(Arguments&&... arguments) const {
        pleat::cuda::Timer timer;
        if (seconds_ != nullptr) timer.start();
        CudaGpu::launch(std::forward<Arguments>(arguments)...);
        if (seconds_ == nullptr) return;
        timer.stop();
        *seconds_ += timer.seconds();
    }

private:
    double* seconds_;
};

}  // namespace

std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context,
                                         const CudaChoices& choices) {
    TimedGpu gpu(context.device.index, choices.seconds);
    if (problem.precision == Precision::float64)
        return std::make_unique<cuda::PairKernel<TimedGpu>>(*problem.frames, std::move(gpu));
    return std::make_unique<cuda::GpuKernel<TimedGpu, GpuMachine>>(
        problem, choices.format, resolve_threads(context), std::move(gpu));
}

DeviceClusters cluster_on_cuda(const Frames& frames, double cutoff, const Context& context,
                               const CudaChoices& choices) {
    cuda::GpuGromos<TimedGpu, GpuMachine> gromos(frames, choices.format.value_or(TileFormat::half),
                                                 resolve_threads(context),
                                                 TimedGpu(context.device.index, choices.seconds));
    gromos.find_neighbours(cutoff, context);
    return gromos.cluster(context);
}

}  // namespace pleat::rmsd
