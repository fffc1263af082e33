// Device memory: arrays and tables of tasks of the CUDA kernel of saxs.
#pragma once

#include <algorithm>
#include <iterator>

#include "pleat/core/cuda/cuda_check.cuh"
#include "pleat/core/cuda/device_array.cuh"
#include "pleat/core/cuda/grow.h"
#include "pleat/core/cuda/pinned_array.cuh"
#include "pleat/core/cuda/stream.cuh"
#include "pleat/core/cuda/timer.cuh"
#include "pleat/saxs/cuda/task_table.h"

namespace pleat::saxs::cuda {

using pleat::cuda::check;
using pleat::cuda::DeviceArray;
using pleat::cuda::grow;
using pleat::cuda::PinnedArray;
using pleat::cuda::Stream;
using pleat::cuda::Timer;

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

}  // namespace pleat::saxs::cuda
