// One GPU as kernels' callers see it: its size, launches and clearing; tests have another like it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "pleat/core/cuda/cuda_check.cuh"
#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/cuda/device_array.cuh"
#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/instructions.cuh"
#include "pleat/core/cuda/pinned_array.cuh"
#include "pleat/core/cuda/stream.cuh"
#include "pleat/core/cuda/timer.cuh"

namespace pleat::cuda {

/// The CUDA runtime. Work goes to the calling thread's stream, or to that of on(), one piece after
/// the other.
class CudaGpu {
public:
    template <class T>
    using Array = DeviceArray<T>;
    template <class T>
    using Pinned = PinnedArray<T>;
    using Stream = cuda::Stream;
    using Timer = cuda::Timer;

    explicit CudaGpu(int index) : index_(index), name_(Device{Device::Kind::cuda, index}.name()) {
        const CudaDevice device = use_cuda_device(index);
        major_ = device.major;
        minor_ = device.minor;
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
    /// Whether it has exactly this compute capability.
    bool is_capability(int major, int minor) const { return major_ == major && minor_ == minor; }

    /// Makes this GPU that of the calling thread, which the constructor does for its own thread.
    void make_current() const { check(cudaSetDevice(index_), "cannot use it"); }

    /// The same GPU, with its launches in `stream`, which must outlive the result.
    CudaGpu on(const Stream& stream) const {
        CudaGpu gpu = *this;
        gpu.stream_ = stream;
        return gpu;
    }

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
        allow_shared_bytes(kernel, shared_bytes);
        kernel<<<sides(grid), sides(threads), static_cast<std::size_t>(shared_bytes), stream_>>>(
            std::forward<Arguments>(arguments)...);
        check(cudaGetLastError(), std::string("cannot ") + what);
    }

    /// How many CTAs of a kernel run at the same time.
    template <class... Parameters>
    Index resident_ctas(void (*kernel)(Parameters...), Index threads, Index shared_bytes) const {
        allow_shared_bytes(kernel, shared_bytes);
        int ctas = 0;
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                  &ctas, kernel, static_cast<int>(threads), static_cast<std::size_t>(shared_bytes)),
              "cannot read how much it takes at once");
        return Index{processors_} * ctas;
    }

    /// Launches that are replayed at the cost of one. Their arguments are copied at capture().
    class Graph {
    public:
        Graph() = default;

    private:
        friend CudaGpu;
        struct Destroy {
            void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
        };
        std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, Destroy> executable_;
    };
    /// The launches that `launches()` makes; only for a GPU made by on().
    template <class Launches>
    Graph capture(const Launches& launches) const {
        cudaGraph_t graph = nullptr;
        check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
              "cannot capture a graph");
        launches();
        check(cudaStreamEndCapture(stream_, &graph), "cannot capture a graph");
        cudaGraphExec_t executable = nullptr;
        const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
        cudaGraphDestroy(graph);
        check(status, "cannot make a graph");
        Graph result;
        result.executable_.reset(executable);
        return result;
    }
    void replay(const Graph& graph) const {
        check(cudaGraphLaunch(graph.executable_.get(), stream_), "cannot start a graph");
    }

    /// Whether all that was launched has ended.
    bool has_ended() const {
        const cudaError_t status = cudaStreamQuery(stream_);
        if (status == cudaErrorNotReady) return false;
        check(status, "cannot compute");
        return true;
    }
    /// Waits until all launches have ended, and all that this thread did with arrays.
    void wait() const {
        check(cudaStreamSynchronize(cudaStreamPerThread), "cannot compute");
        if (stream_ != cudaStreamPerThread) check(cudaStreamSynchronize(stream_), "cannot compute");
    }

private:
    /// Shared memory in bytes that a CTA may use without a special request.
    static constexpr Index kPlainSharedBytes = 48 << 10;

    template <class... Parameters>
    static void allow_shared_bytes(void (*kernel)(Parameters...), Index shared_bytes) {
        if (shared_bytes <= kPlainSharedBytes) return;
        check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared_bytes)),
              "cannot take shared memory");
    }
    static dim3 sides(Sides from) {
        return {static_cast<unsigned>(from.x), static_cast<unsigned>(from.y),
                static_cast<unsigned>(from.z)};
    }

    int index_ = 0, processors_ = 1, major_ = 0, minor_ = 0;
    cudaStream_t stream_ = cudaStreamPerThread;
    Index max_shared_bytes_ = 0;
    std::string name_;
};

}  // namespace pleat::cuda
