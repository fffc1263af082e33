// The CUDA kernel of saxs.
#include <memory>
#include <utility>

#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cuda/chain_sums.cuh"
#include "pleat/saxs/cuda/gpu_kernel.cuh"
#include "pleat/saxs/cuda/multipoles.cuh"
#include "pleat/saxs/cuda/surface_kernel.cuh"

namespace pleat::saxs {

using pleat::cuda::CudaGpu;

std::unique_ptr<Kernel> make_cuda_kernel(const Model& model, Precision precision,
                                         const Context& context) {
    CudaGpu gpu(context.device.index);
    const int threads = resolve_threads(context);
    if (precision == Precision::float64)
        return std::make_unique<cuda::GpuKernel<CudaGpu, double>>(model, std::move(gpu), threads);
    return std::make_unique<cuda::GpuKernel<CudaGpu>>(model, std::move(gpu), threads);
}

std::unique_ptr<Kernel> make_cuda_multipole_kernel(const Model& model, const Context& context,
                                                   std::unique_ptr<Kernel> by_pairs) {
    return std::make_unique<cuda::GpuMultipoles<CudaGpu>>(
        model, CudaGpu(context.device.index), resolve_threads(context), std::move(by_pairs));
}

std::unique_ptr<BodyPairs> make_cuda_body_pairs(const Model& model, const SortedScatterers& sorted,
                                                Precision precision, int index) {
    CudaGpu gpu(index);
    if (precision == Precision::float64)
        return std::make_unique<cuda::GpuBodyPairs<CudaGpu, double>>(model, sorted, std::move(gpu));
    return std::make_unique<cuda::GpuBodyPairs<CudaGpu>>(model, sorted, std::move(gpu));
}

std::shared_ptr<SharedGpu> make_shared_gpu(const Model& model, std::span<const std::int32_t> bodies,
                                           int index) {
    return std::make_shared<cuda::GpuOfSessions<CudaGpu>>(model, bodies, CudaGpu(index));
}

std::unique_ptr<SurfaceKernel> make_cuda_surface_kernel(std::span<const double> reach, Index frames,
                                                        int index) {
    return std::make_unique<cuda::GpuSurfaceKernel<CudaGpu>>(reach, frames, CudaGpu(index));
}

}  // namespace pleat::saxs
