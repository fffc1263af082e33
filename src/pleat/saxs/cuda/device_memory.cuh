// Device memory: pinned arrays, tables of tasks, streams and timers of the CUDA kernel of saxs.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>

#include "pleat/core/cuda/cuda_check.cuh"
#include "pleat/core/cuda/device_array.cuh"
#include "pleat/saxs/cuda/task_table.h"

namespace pleat::saxs::cuda {

using pleat::cuda::check;
using pleat::cuda::DeviceArray;

/// Host memory that the GPU reads and writes.
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

/// Makes room for `count` elements; the content is lost if the array must grow.
template <class Array>
void grow(Array& array, Index count) {
    if (array.size() >= count) return;
    array = Array();
    array = Array(count);
}

template <class T, class From>
DeviceArray<T> uploaded(const From& values) {
    DeviceArray<T> array(std::max<Index>(static_cast<Index>(std::size(values)), 1));
    if (std::size(values) > 0)
        array.upload(std::data(values), 0, static_cast<Index>(std::size(values)));
    return array;
}

/// A table of tasks on the device.
struct DeviceTasks {
    DeviceTasks(const SortedScatterers& sorted, Index min_columns)
        : table(sorted, min_columns),
          tasks(uploaded<Task>(table.tasks)),
          first(uploaded<std::int32_t>(table.first)) {}
    TaskTable table;
    DeviceArray<Task> tasks;
    DeviceArray<std::int32_t> first;
};

/// Memory of the last step of a reduction.
struct Slices {
    DeviceArray<double> sums;
    DeviceArray<unsigned> arrived;
};

class Stream {
public:
    Stream() {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cannot make a stream");
    }
    ~Stream() { cudaStreamDestroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    operator cudaStream_t() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
};

class Timer {
public:
    explicit Timer(cudaStream_t stream) : stream_(stream) {
        check(cudaEventCreate(&first_), "cannot make an event");
        check(cudaEventCreate(&last_), "cannot make an event");
        check(cudaEventRecord(first_, stream_), "cannot record an event");
    }
    ~Timer() {
        cudaEventDestroy(first_);
        cudaEventDestroy(last_);
    }
    double seconds() {
        check(cudaEventRecord(last_, stream_), "cannot record an event");
        check(cudaEventSynchronize(last_), "cannot compute profiles");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, first_, last_), "cannot read an event");
        return 1e-3 * static_cast<double>(milliseconds);
    }

private:
    cudaStream_t stream_;
    cudaEvent_t first_ = nullptr, last_ = nullptr;
};

}  // namespace pleat::saxs::cuda
