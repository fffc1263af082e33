// The CUDA kernel: its launches and memory on one GPU.
#include <memory>
#include <type_traits>

#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/mutual_information/cuda/bit_product.cuh"
#include "pleat/mutual_information/cuda/gpu_kernel.cuh"
#include "pleat/mutual_information/kernel/kernel.h"

namespace pleat::mutual_information {

namespace {

using pleat::cuda::check;

/// A point of the stream that launches go to.
class Event {
public:
    void record() {
        if (event_ == nullptr) {
            cudaEvent_t made = nullptr;
            check(cudaEventCreate(&made), "cannot make an event");
            event_.reset(made);
        }
        check(cudaEventRecord(event_.get(), cudaStreamPerThread), "cannot record an event");
    }
    cudaEvent_t get() const { return event_.get(); }

private:
    struct Destroy {
        void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
    };
    std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy> event_;
};

/// A GPU with a clock of its own.
class ClockedGpu : public pleat::cuda::CudaGpu {
public:
    using CudaGpu::CudaGpu;

    void start_clock() { start_.record(); }
    void stop_clock() { end_.record(); }
    double clocked_seconds() const {
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, start_.get(), end_.get()),
              "cannot read its clock");
        return 1e-3 * milliseconds;
    }

private:
    Event start_, end_;
};

}  // namespace

std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context) {
    return std::make_unique<cuda::GpuKernel<ClockedGpu>>(problem, ClockedGpu(context.device.index));
}

}  // namespace pleat::mutual_information
