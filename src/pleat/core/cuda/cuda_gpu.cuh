// One GPU as kernels' callers see it: memory, streams, launches and instructions; tests have
// another like it.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/view.h"

/// Declares the dynamic shared memory of the CTA, an array of T. A macro, since a function that
/// returns it changes the machine code of large kernels.
#define PLEAT_DYNAMIC_SHARED(T, name) extern __shared__ T name[]

namespace pleat::cuda {

/// Throws DeviceError unless the call succeeded: "CUDA: cannot allocate 3.1 GiB: out of memory".
inline void check(cudaError_t status, const std::string& what) {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // so that a later call is not blamed for this one
    throw DeviceError("CUDA: " + what + ": " + cudaGetErrorString(status));
}

/// Owns `size()` elements on the device that is current at construction, which zeroes them.
/// Transfers wait for earlier kernels. Every failure is a DeviceError.
template <class T>
class DeviceArray {
public:
    DeviceArray() = default;
    explicit DeviceArray(Index count) {
        DeviceArray made;  // frees the memory if clearing it fails
        check(cudaMalloc(&made.data_, bytes(count)),
              "cannot allocate " + human_bytes(bytes(count)));
        made.count_ = count;
        check(cudaMemset(made.data_, 0, bytes(count)), "cannot clear memory");
        std::swap(data_, made.data_);
        std::swap(count_, made.count_);
    }
    DeviceArray(DeviceArray&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
    DeviceArray& operator=(DeviceArray&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        return *this;
    }
    ~DeviceArray() { cudaFree(data_); }

    T* data() const { return data_; }
    Index size() const { return count_; }

    void upload(const T* from) { upload(from, 0, count_); }
    void download(T* to) const { download(to, 0, count_); }
    void upload(const T* from, Index first, Index count) {
        check(cudaMemcpy(data_ + first, from, bytes(count), cudaMemcpyHostToDevice),
              "cannot copy to the device");
    }
    void download(T* to, Index first, Index count) const {
        check(cudaMemcpy(to, data_ + first, bytes(count), cudaMemcpyDeviceToHost),
              "cannot copy from the device");
    }

private:
    static Index bytes(Index count) { return count * static_cast<Index>(sizeof(T)); }

    T* data_ = nullptr;
    Index count_ = 0;
};

/// Owns `size()` uninitialised elements. Throws DeviceError if there is not enough memory.
template <class T>
class PinnedArray {
public:
    PinnedArray() = default;
    explicit PinnedArray(Index count) : count_(count) {
        check(cudaHostAlloc(reinterpret_cast<void**>(&data_),
                            static_cast<std::size_t>(std::max<Index>(count, 1)) * sizeof(T),
                            cudaHostAllocDefault),
              "cannot allocate pinned memory");
    }
    PinnedArray(PinnedArray&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
    PinnedArray& operator=(PinnedArray&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        return *this;
    }
    ~PinnedArray() { cudaFreeHost(data_); }
    T* data() const { return data_; }
    Index size() const { return count_; }

private:
    T* data_ = nullptr;
    Index count_ = 0;
};

/// A stream whose work does not wait for other streams. The destructor waits for its work, on the
/// device that was current at construction.
class Stream {
public:
    Stream() {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cannot make a stream");
    }
    ~Stream() {
        cudaStreamSynchronize(stream_);
        cudaStreamDestroy(stream_);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    operator cudaStream_t() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
};

/// Measures time on the device that is current when start() is first called.
class Timer {
public:
    explicit Timer(cudaStream_t stream = cudaStreamPerThread) : stream_(stream) {}

    void start() { record(first_); }
    void stop() { record(last_); }
    /// Waits for the work launched before stop().
    double seconds() const {
        float milliseconds = 0;
        check(cudaEventSynchronize(last_.get()), "cannot compute");
        check(cudaEventElapsedTime(&milliseconds, first_.get(), last_.get()),
              "cannot read a timer");
        return 1e-3 * static_cast<double>(milliseconds);
    }

private:
    struct Destroy {
        void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
    };
    using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy>;

    void record(Event& event) {
        if (event == nullptr) {
            cudaEvent_t made = nullptr;
            check(cudaEventCreate(&made), "cannot make a timer");
            event.reset(made);
        }
        check(cudaEventRecord(event.get(), stream_), "cannot start or stop a timer");
    }

    cudaStream_t stream_;
    Event first_, last_;
};

/// Starts copying 16 bytes from global to shared memory, past the first cache.
__device__ __forceinline__ void copy_async(void* to, const void* from) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}

/// Ends a group of copies of this thread.
__device__ __forceinline__ void end_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until all copy groups of this thread except the newest kLeft are complete.
template <int kLeft>
__device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

/// Loads four 8 x 8 matrices of float16 from shared memory, transposed or not; lane 8 k + r gives
/// the address of row r of the k-th matrix.
template <bool kTransposed>
__device__ __forceinline__ void load_matrices(std::uint32_t (&to)[4], const __half* row) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
    if constexpr (kTransposed) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(address)
                     : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(address)
                     : "memory");
    }
}

/// c += a * b of float16 numbers for 16 rows by 8 columns by 16, on tensor cores; c has four
/// elements.
__device__ __forceinline__ void multiply_halves(float* c, const std::uint32_t (&a)[4],
                                                std::uint32_t b0, std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// c += a * b of float64 numbers for 8 rows by 8 columns by 4, on tensor cores (compute capability
/// 8.0). Lane 4 g + t provides element t of row g of a and of column g of b; its two elements of c
/// are columns 2 t and 2 t + 1 of row g.
__device__ __forceinline__ void multiply_doubles(double* c, double a, double b) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a), "d"(b));
}

/// Compares two pairs of float16 numbers: 1.0 where they are equal, else 0.
__device__ __forceinline__ std::uint32_t equal_halves(std::uint32_t x, std::uint32_t y) {
    std::uint32_t result;
    asm("set.eq.f16x2.f16x2 %0, %1, %2;" : "=r"(result) : "r"(x), "r"(y));
    return result;
}

/// rsqrtf() without support for denormal numbers.
__device__ __forceinline__ float rough_inverse_root(float value) {
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
}

/// 1 / value, with an error of one unit in the last place.
__device__ __forceinline__ float rough_inverse(float value) {
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
}

/// Access to one GPU through the CUDA runtime. Work is executed in order, in the calling thread's
/// stream or in the stream of on().
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

    /// The number of CTAs of a kernel that can run at the same time.
    template <class... Parameters>
    Index resident_ctas(void (*kernel)(Parameters...), Index threads, Index shared_bytes) const {
        allow_shared_bytes(kernel, shared_bytes);
        int ctas = 0;
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                  &ctas, kernel, static_cast<int>(threads), static_cast<std::size_t>(shared_bytes)),
              "cannot read how much it takes at once");
        return Index{processors_} * ctas;
    }

    /// Recorded launches that can be replayed at the cost of one launch. Arguments are copied at
    /// capture().
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
    /// Waits for all launches and for all array operations of this thread.
    void wait() const {
        check(cudaStreamSynchronize(cudaStreamPerThread), "cannot compute");
        if (stream_ != cudaStreamPerThread) check(cudaStreamSynchronize(stream_), "cannot compute");
    }

private:
    /// Bytes of shared memory that a CTA may use without special request.
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

/// A GPU among several that one thread may drive in turn, each after use().
class PeerGpu : public CudaGpu {
public:
    explicit PeerGpu(int index) : CudaGpu(index), index_(index) {}

    /// Makes this GPU current in the calling thread.
    void use() const { check(cudaSetDevice(index_), "cannot use " + name()); }

    /// Lets kernels of this GPU, which must be current, read the memory of `other`.
    void read_memory_of(const PeerGpu& other) const {
        if (other.index_ == index_) return;
        const cudaError_t status = cudaDeviceEnablePeerAccess(other.index_, 0);
        if (status == cudaErrorPeerAccessAlreadyEnabled)
            cudaGetLastError();
        else
            check(status, name() + " cannot read the memory of " + other.name());
    }

    /// A point in the work of the GPU that is current at construction.
    class Event {
    public:
        Event() {
            cudaEvent_t made = nullptr;
            check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "cannot make an event");
            event_.reset(made);
        }

    private:
        friend PeerGpu;
        struct Destroy {
            void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
        };
        std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy> event_;
    };
    /// Places the event after all launches of this thread on this GPU, which must be current.
    void record(const Event& event) const {
        check(cudaEventRecord(event.event_.get(), cudaStreamPerThread), "cannot record an event");
    }
    /// Delays later launches of this thread on this GPU, which must be current, until the last
    /// recorded event; no delay if none was recorded.
    void wait_for(const Event& event) const {
        check(cudaStreamWaitEvent(cudaStreamPerThread, event.event_.get(), 0),
              "cannot wait for an event");
    }

private:
    int index_;
};

}  // namespace pleat::cuda
