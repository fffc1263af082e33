// One GPU as kernels' callers see it: its size, launches and clearing; tests have another like it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <utility>

#include "pleat/core/cuda/cuda_check.cuh"
#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/cuda/device_array.cuh"
#include "pleat/core/cuda/gpu_sides.h"

namespace pleat::cuda {

/// The CUDA runtime. All work runs in order in the calling thread's stream.
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
        max_shared_bytes_ = bytes;
    }

    Index max_shared_bytes() const { return max_shared_bytes_; }
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
    void launch(const char* what, void (*kernel)(Parameters...), Sides grid, Sides threads,
                Index shared_bytes, Arguments&&... arguments) const {
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

    /// Waits until all launched kernels and copies have finished.
    void wait() const { check(cudaStreamSynchronize(cudaStreamPerThread), "cannot compute"); }

private:
    /// Shared memory in bytes that a CTA may use without a special request.
    static constexpr Index kPlainSharedBytes = 48 << 10;

    static dim3 sides(Sides from) {
        return {static_cast<unsigned>(from.x), static_cast<unsigned>(from.y)};
    }

    int index_ = 0, processors_ = 1;
    Index max_shared_bytes_ = 0;
    std::string name_;
};

}  // namespace pleat::cuda
