// The CUDA kernel: its launches and memory on one GPU.
#include <memory>

#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/mutual_information/cuda/bit_product.cuh"
#include "pleat/mutual_information/cuda/gpu_kernel.cuh"
#include "pleat/mutual_information/kernel/kernel.h"

namespace pleat::mutual_information {

std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context) {
    using pleat::cuda::CudaGpu;
    return std::make_unique<cuda::GpuKernel<CudaGpu>>(problem, CudaGpu(context.device.index));
}

}  // namespace pleat::mutual_information
