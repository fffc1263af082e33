// Kernels of the weights: count the neighbours of each sequence on the chosen device.
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
    Index max_differences = 0;            ///< >= 0
};

/// Counts neighbours in steps that are short enough to ask for cancelling between them.
class Kernel {
public:
    virtual ~Kernel() = default;
    virtual Index step_count() const = 0;
    /// Computes step `index` of [0, step_count()). Each step must be computed once, in any order.
    virtual void step(Index index) = 0;
    /// For each sequence the number of sequences, itself included, that differ from it in at most
    /// `max_differences` columns. Call after all steps.
    virtual std::vector<Index> neighbours() const = 0;
};

/// The kernel for the context's device. For `cuda` it is the CPU kernel unless gpu_pays()
/// (weights.h) for this problem and the context's threads. Throws DeviceError.
std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context);

/// Computes by the definition: two loops over sequences and one over columns, on one thread.
std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem);

/// Compares bit planes of the distinct sequences; each instruction compares a vector of them. Uses
/// `context.threads` threads.
std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, const Context& context);

/// Compares bit planes on the GPU `context.device.index`, packed by `context.threads` threads.
/// Throws DeviceError if the GPU is missing or out of memory.
std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context);

}  // namespace pleat::weights
