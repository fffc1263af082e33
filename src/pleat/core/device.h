// Devices: where an engine computes, by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace pleat {

/// Where to compute: the plain float64 reference, the CPU kernels, or one CUDA GPU.
struct Device {
    enum class Kind { reference, cpu, cuda };
    Kind kind = Kind::cpu;
    int index = 0;

    /// Reads "reference", "cpu", "cuda" or "cuda:N"; throws UsageError otherwise.
    static Device parse(std::string_view text);
    std::string name() const;
    /// "reference", "cpu" or "cuda", without the number of a GPU.
    std::string_view kind_name() const;
    friend bool operator==(const Device&, const Device&) = default;
};

/// What a computation needs of GPUs.
struct GpuDemand {
    std::int64_t bytes = 0;
    double seconds = 0;  ///< estimate of the time on one GPU; 0: unknown, or it cannot be divided
};

}  // namespace pleat

#pragma GCC visibility pop
