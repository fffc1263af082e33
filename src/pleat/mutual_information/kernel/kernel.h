// Kernels of mutual information: who counts the tables of columns and of their shuffles.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "pleat/core/context.h"
#include "pleat/core/view.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/kernel/null_sums.h"
#include "pleat/mutual_information/triples/tiles.h"

namespace pleat::mutual_information {

/// What is counted; both must outlive the kernel.
struct Problem {
    const Columns* columns = nullptr;
    const Statistic* statistic = nullptr;
    std::uint64_t seed = 1;
};

/// Counts tables and sums F over their cells. All results are integers and the same on every
/// device.
///
/// The null of a pair is T of both columns shuffled, each by shuffle_column(). The null of a triple
/// is T of columns j and k shuffled so, beside column i sorted by code (symbol 0 in the first rows,
/// and so on): only the arrangement of the columns to each other matters, and a sorted column needs
/// no conditional sorting of the others.
class Kernel {
public:
    virtual ~Kernel() = default;

    /// T of every pair i < j of the alignment itself, in lexicographic order.
    virtual void observe_pairs(View<std::int64_t, 1> t) = 0;
    /// T of every triple of a tile.
    virtual void observe_triples(const TripleTile& tile, View<std::int64_t, 1> t) = 0;

    /// Adds the shuffles of this block to the sums of all pairs. `observed` is from
    /// observe_pairs(); `largest` may be null.
    virtual void sample_pairs(Block shuffles, View<const std::int64_t, 1> observed, NullSums& sums,
                              const LargestZ* largest) = 0;
    /// The same for the triples of a tile; `observed` is from observe_triples().
    virtual void sample_triples(const TripleTile& tile, Block shuffles,
                                View<const std::int64_t, 1> observed, NullSums& sums) = 0;

    /// Seconds of all calls until now from the first launch to the end of the last, by the GPU's
    /// own clock: copies, memory and the host's part are not in it. 0 where there is no GPU.
    virtual double gpu_seconds() const { return 0.0; }
};

/// The one place where a device is chosen. DeviceError.
std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context);

/// Counts row by row into a table of cells; one thread.
std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem);

/// Bit planes of eight shuffles side by side, counted by AND and population count.
std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, const Context& context);

/// Bit planes on the GPU `context.device.index`, counted by one-bit matrix products. DeviceError
/// where that GPU is absent or has not the memory.
std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context);

}  // namespace pleat::mutual_information
