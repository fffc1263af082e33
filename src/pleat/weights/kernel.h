// Kernels of the weights: who counts the neighbours of each sequence, chosen by device.
#pragma once

#include <memory>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/view.h"

namespace pleat::weights {

/// The sequences and the largest number of columns in which two neighbours may differ.
/// The views must outlive the kernel.
struct Problem {
    View<const std::uint8_t, 2> letters;  ///< [sequence, column]
    Index most_differences = 0;           ///< >= 0
};

/// Counts neighbours in steps, each short enough to poll for cancellation between two of them.
class Kernel {
public:
    virtual ~Kernel() = default;
    virtual Index step_count() const = 0;
    /// Does the step `index` of [0, step_count()); each must be done once, in any order.
    virtual void step(Index index) = 0;
    /// For each sequence the number of sequences, itself included, that differ from it in at most
    /// `most_differences` columns. Complete once every step is done.
    virtual std::vector<Index> neighbours() const = 0;
};

/// The one place where a device is chosen. For `cuda` it is the CPU kernel too, unless gpu_pays()
/// (weights.h) for this problem and the context's threads. DeviceError.
std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context);

/// Two loops over sequences and one over columns, as the definition reads; one thread.
std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem);

/// Bit planes of the distinct sequences, compared a vector of sequences at a time on
/// `context.threads` threads.
std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, const Context& context);

/// The same bit planes on the GPU `context.device.index`, packed by `context.threads` threads.
/// DeviceError where that GPU is absent or has not the memory.
std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context);

}  // namespace pleat::weights
