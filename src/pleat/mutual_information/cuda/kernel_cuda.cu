// The CUDA kernel: its launches and memory on one GPU.
#include <memory>

#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/core/cuda/timer.cuh"
#include "pleat/mutual_information/cuda/bit_product.cuh"
#include "pleat/mutual_information/cuda/gpu_kernel.cuh"
#include "pleat/mutual_information/kernel/kernel.h"

namespace pleat::mutual_information {

namespace {

/// A GPU that measures the time of its launches.
class TimedGpu : public pleat::cuda::CudaGpu {
public:
    using CudaGpu::CudaGpu;

    void start_clock() { timer_.start(); }
    void stop_clock() { timer_.stop(); }
    double clocked_seconds() const { return timer_.seconds(); }

private:
    pleat::cuda::Timer timer_;
};

}  // namespace

std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context) {
    return std::make_unique<cuda::GpuKernel<TimedGpu>>(problem, TimedGpu(context.device.index));
}

}  // namespace pleat::mutual_information
