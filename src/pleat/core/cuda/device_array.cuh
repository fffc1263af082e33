// Arrays in the memory of a GPU, freed with their owner.
#pragma once

#include <cuda_runtime.h>

#include <utility>

#include "pleat/core/cuda/cuda_check.cuh"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/view.h"

namespace pleat::cuda {

/// Owns `size()` elements, zeroed at construction, on the device that was current then. Transfers
/// wait for the kernels before them. Every failure is a DeviceError.
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
    /// The elements [first, first + count).
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

}  // namespace pleat::cuda
