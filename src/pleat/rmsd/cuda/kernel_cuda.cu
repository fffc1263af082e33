// The CUDA kernels of rmsd, and the GPU's clock.
#include <memory>
#include <utility>

#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/cuda/gpu_gromos.cuh"
#include "pleat/rmsd/cuda/gpu_kernel.cuh"

namespace pleat::rmsd {

namespace {

/// A GPU whose work is timed from launch to end, without copies.
class TimedGpu : public pleat::cuda::PeerGpu {
public:
    TimedGpu(int index, double* seconds) : PeerGpu(index), seconds_(seconds) {}

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
                                         double* seconds) {
    TimedGpu gpu(context.device.index, seconds);
    if (problem.precision == FitPrecision::float64)
        return std::make_unique<cuda::Float64Kernel<TimedGpu>>(*problem.frames, std::move(gpu));
    return std::make_unique<cuda::GpuKernel<TimedGpu>>(problem, resolve_threads(context),
                                                       std::move(gpu));
}

DeviceClusters cluster_on_cuda(const FrameSource& frames, GromosProblem problem,
                               const Context& context, double* seconds) {
    const cuda::GpuShare share = are_one_process(context)
                                     ? cuda::GpuShare{context.rank(), context.ranks()}
                                     : cuda::GpuShare{};
    cuda::GpuGromos<TimedGpu> gromos(frames, resolve_threads(context),
                                     TimedGpu(context.device.index, seconds), share);
    return cuda::cluster_together(gromos, std::move(problem), context);
}

}  // namespace pleat::rmsd
