// A GPU of the tests: memory of the host, launches on the CPU, sizes as a test wants them.
#pragma once

#include "pleat/core/tests/instructions_on_host.h"  // before the kernels

#include <functional>
#include <map>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/error.h"

// The address sanitizer's; null in a program without it.
extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(const volatile void* first, std::size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* first, std::size_t bytes);
}

namespace pleat::test {

using pleat::cuda::Sides;

/// Makes the address sanitizer report uses of shared memory beyond what a launch asked for.
class SharedBytes {
public:
    explicit SharedBytes(Index count) {
        if (__asan_poison_memory_region != nullptr)
            __asan_poison_memory_region(
                pleat::cuda::dynamic_shared_memory + count,
                static_cast<std::size_t>(pleat::cuda::kMaxDynamicShared - count));
    }
    ~SharedBytes() {
        if (__asan_unpoison_memory_region != nullptr)
            __asan_unpoison_memory_region(pleat::cuda::dynamic_shared_memory,
                                          pleat::cuda::kMaxDynamicShared);
    }
    SharedBytes(const SharedBytes&) = delete;
    SharedBytes& operator=(const SharedBytes&) = delete;
};

/// What a test asks of the GPU, and what it sees of its use.
struct HostGpuState {
    std::int64_t total_bytes = std::int64_t{1} << 33;
    Index shared_bytes = pleat::cuda::kMaxDynamicShared;
    std::int64_t used_bytes = 0, max_used_bytes = 0;
    std::map<std::string, Index> launches;  ///< by what they are for
};

/// What a kernel's caller asks of a GPU (core/cuda/cuda_gpu.cuh). Its state must outlive the
/// kernel.
class HostGpu {
public:
    template <class T>
    class Array {
    public:
        Array() = default;
        explicit Array(Index count)
            : data_(new T[static_cast<std::size_t>(count)]()), count_(count), state_(current()) {
            if (state_->used_bytes + bytes() > state_->total_bytes)
                throw DeviceError("out of memory");
            state_->used_bytes += bytes();
            state_->max_used_bytes = std::max(state_->max_used_bytes, state_->used_bytes);
        }
        Array(Array&& other) noexcept { *this = std::move(other); }
        Array& operator=(Array&& other) noexcept {
            std::swap(data_, other.data_);
            std::swap(count_, other.count_);
            std::swap(state_, other.state_);
            return *this;
        }
        ~Array() {
            if (state_ != nullptr) state_->used_bytes -= bytes();
        }

        T* data() const { return data_.get(); }
        Index size() const { return count_; }
        void upload(const T* from) { upload(from, 0, count_); }
        void upload(const T* from, Index first, Index count) {
            check(first, count);
            std::copy_n(from, count, data() + first);
        }
        void download(T* to) const { download(to, 0, count_); }
        void download(T* to, Index first, Index count) const {
            check(first, count);
            std::copy_n(data() + first, count, to);
        }

    private:
        std::int64_t bytes() const { return count_ * static_cast<Index>(sizeof(T)); }
        void check(Index first, Index count) const {
            if (first < 0 || first + count > count_)
                throw std::logic_error("copy outside an array");
        }
        std::unique_ptr<T[]> data_;
        Index count_ = 0;
        HostGpuState* state_ = nullptr;
    };

    template <class T>
    using Pinned = Array<T>;
    struct Stream {};
    /// A second per launch.
    class Timer {
    public:
        void start() { first_ = launch_count(); }
        void stop() { last_ = launch_count(); }
        double seconds() const { return static_cast<double>(last_ - first_); }

    private:
        static Index launch_count() {
            Index count = 0;
            for (const auto& [what, launches] : current()->launches) count += launches;
            return count;
        }
        Index first_ = 0, last_ = 0;
    };

    explicit HostGpu(HostGpuState& state) : state_(&state) { current() = &state; }
    HostGpu on(const Stream&) const { return *this; }
    void make_current() const { current() = state_; }

    std::int64_t free_bytes() const { return state_->total_bytes - state_->used_bytes; }
    Index max_shared_bytes() const { return state_->shared_bytes; }
    Index processors() const { return 2; }
    std::string name() const { return "the host"; }

    using Graph = std::function<void()>;
    static Graph capture(Graph launches) { return launches; }
    void replay(const Graph& graph) const { graph(); }
    template <class... Parameters>
    Index resident_ctas(void (*)(Parameters...), Index, Index) const {
        return 1;
    }
    bool has_ended() const { return true; }
    void wait() const {}

    template <class T>
    void clear(Array<T>& array, Index count) const {
        std::fill_n(array.data(), count, T{});
    }

    template <class... Parameters, class... Arguments>
    void launch(const char* what, void (*kernel)(Parameters...), Sides grid, Sides threads,
                Index shared_bytes, Arguments... arguments) const {
        if (!fits(grid, threads) || shared_bytes < 0 || shared_bytes > state_->shared_bytes)
            throw std::logic_error(std::string("a grid that no GPU takes, to ") + what);
        ++state_->launches[what];
        // What an earlier CTA left is no zero.
        std::memset(pleat::cuda::dynamic_shared_memory, 0xa5, pleat::cuda::kMaxDynamicShared);
        const SharedBytes usable(shared_bytes);
        const auto side = [](Index length) { return static_cast<unsigned>(length); };
        Machine::only().run({side(grid.x), side(grid.y), side(grid.z)},
                            {side(threads.x), side(threads.y), 1}, [&] { kernel(arguments...); });
    }

private:
    /// The limits of every GPU since compute capability 3.0 (CUDA C++ Programming Guide, "Technical
    /// Specifications per Compute Capability").
    static bool fits(Sides grid, Sides threads) {
        constexpr Index kMaxX = 2147483647, kMaxY = 65535, kMaxThreads = 1024;
        return grid.x >= 1 && grid.x <= kMaxX && grid.y >= 1 && grid.y <= kMaxY && grid.z >= 1 &&
               grid.z <= kMaxY && threads.x >= 1 && threads.x <= kMaxThreads && threads.y >= 1 &&
               threads.y <= kMaxThreads && threads.z == 1 && threads.x * threads.y <= kMaxThreads;
    }
    static HostGpuState*& current() {
        static HostGpuState* state = nullptr;
        return state;
    }
    HostGpuState* state_;
};

}  // namespace pleat::test
