// Estimate: the memory and the time of a computation, told before it begins.
#pragma once

#include <cstdint>

namespace pleat {

/// Upper bounds of memory, and approximate disk space and time that a computation needs.
struct Estimate {
    std::int64_t host_bytes = 0;
    std::int64_t gpu_bytes = 0;      ///< 0 without a GPU
    std::int64_t min_gpu_bytes = 0;  ///< the same if the work is split into the smallest blocks
    double seconds = 0;              ///< 0: not known
    std::int64_t disk_bytes = 0;     ///< of the files, with what is kept until the run has ended
};

}  // namespace pleat
