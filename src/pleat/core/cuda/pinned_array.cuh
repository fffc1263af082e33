// Pinned arrays: memory of the host that a GPU reads and writes by itself.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <utility>

#include "pleat/core/cuda/cuda_check.cuh"
#include "pleat/core/view.h"

namespace pleat::cuda {

/// Owns `size()` elements, not set at construction. Throws DeviceError if there is no memory.
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

}  // namespace pleat::cuda
