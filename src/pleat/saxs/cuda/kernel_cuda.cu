// The CUDA kernel of saxs.
#include <memory>

#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cuda/gpu_kernel.cuh"

namespace pleat::saxs {

using pleat::cuda::CudaGpu;

std::unique_ptr<Kernel> make_cuda_kernel(const Model& model, const Context& context) {
    return std::make_unique<cuda::GpuKernel<CudaGpu>>(model, CudaGpu(context.device.index),
                                                      resolve_threads(context));
}

std::unique_ptr<BodyPairs> make_cuda_body_pairs(const Model& model, const SortedScatterers& sorted,
                                                int index) {
    return std::make_unique<cuda::GpuBodyPairs<CudaGpu>>(model, sorted, CudaGpu(index));
}

}  // namespace pleat::saxs
