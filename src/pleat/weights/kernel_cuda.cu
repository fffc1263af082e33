// The CUDA kernel of the weights.
#include <memory>

#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/core/loops/parallel.h"
#include "pleat/weights/gpu_kernel.cuh"

namespace pleat::weights {

std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context) {
    using pleat::cuda::CudaGpu;
    CudaGpu gpu(context.device.index);
    return std::make_unique<cuda::GpuKernel<CudaGpu>>(
        pack(problem.letters, resolve_threads(context)), problem, std::move(gpu));
}

}  // namespace pleat::weights
