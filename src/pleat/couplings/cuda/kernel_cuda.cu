// The CUDA kernel: the products of the GPU that it runs on.
#include <memory>

#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/couplings/cuda/gpu_kernel.cuh"
#include "pleat/couplings/cuda/one_hot_portable.cuh"

namespace pleat::couplings {

namespace {

class ProductGpu : public pleat::cuda::CudaGpu {
public:
    ProductGpu(int index, bool portable)
        : CudaGpu(index), hopper_(is_capability(9, 0) && !portable) {}

    void multiply(const cuda::OneHotProduct& product) const {
        if (hopper_)
            cuda::multiply_on_hopper(*this, product);
        else
            cuda::multiply_portably(*this, product);
    }

private:
    bool hopper_;
};

}  // namespace

std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, int index,
                                         const CudaChoices& choices) {
    return std::make_unique<cuda::GpuKernel<ProductGpu>>(problem, choices.blocks,
                                                         ProductGpu(index, choices.portable));
}

}  // namespace pleat::couplings
