// The CUDA kernel: its launches and memory on one GPU.
#include <memory>
#include <type_traits>
#include <utility>

#include "pleat/core/cuda_check.cuh"
#include "pleat/core/cuda_device.h"
#include "pleat/core/device_array.cuh"
#include "pleat/mutual_information/bit_product.cuh"
#include "pleat/mutual_information/gpu_kernel.cuh"
#include "pleat/mutual_information/kernel.h"

namespace pleat::mutual_information {

namespace {

using pleat::cuda::check;
using pleat::cuda::DeviceArray;

/// What a CTA may have of shared memory without asking for more.
constexpr Index kPlainSharedBytes = 48 << 10;

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

/// The CUDA runtime as GpuKernel asks for it.
class CudaGpu {
public:
    template <class T>
    using Array = DeviceArray<T>;

    explicit CudaGpu(int index) : index_(index), name_(Device{Device::Kind::cuda, index}.name()) {
        use_cuda_device(index);
        int bytes = 0;
        check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, index),
              "cannot read its shared memory");
        check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, index),
              "cannot read its processors");
        most_shared_bytes_ = bytes;
    }

    void start_clock() { start_.record(); }
    void stop_clock() { end_.record(); }
    double clocked_seconds() const {
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, start_.get(), end_.get()), "cannot read its clock");
        return 1e-3 * milliseconds;
    }

    Index most_shared_bytes() const { return most_shared_bytes_; }
    Index processors() const { return processors_; }
    const std::string& name() const { return name_; }

    std::int64_t free_bytes() const {
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "cannot read its free memory");
        return static_cast<std::int64_t>(free);
    }

    template <class T>
    void clear(DeviceArray<T>& array, Index count) const {
        check(cudaMemsetAsync(array.data(), 0, static_cast<std::size_t>(count) * sizeof(T),
                              cudaStreamPerThread),
              "cannot clear memory");
    }

    template <class... Parameters, class... Arguments>
    void launch(const char* what, void (*kernel)(Parameters...), cuda::Sides grid,
                cuda::Sides threads, Index shared_bytes, Arguments&&... arguments) const {
        if (shared_bytes > kPlainSharedBytes) {
            check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                       cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(shared_bytes)),
                  "cannot take shared memory");
        }
        kernel<<<sides(grid), sides(threads), static_cast<std::size_t>(shared_bytes)>>>(
            std::forward<Arguments>(arguments)...);
        check(cudaGetLastError(), std::string("cannot ") + what);
    }

private:
    static dim3 sides(cuda::Sides from) {
        return {static_cast<unsigned>(from.x), static_cast<unsigned>(from.y)};
    }

    Event start_, end_;
    int index_ = 0, processors_ = 1;
    Index most_shared_bytes_ = 0;
    std::string name_;
};

}  // namespace

std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context) {
    return std::make_unique<cuda::GpuKernel<CudaGpu>>(problem, CudaGpu(context.device.index));
}

}  // namespace pleat::mutual_information
