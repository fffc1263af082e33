// Kernel: counts the contingency tables of columns and of their shuffles, on one device.
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

/// The input of a kernel; both pointers must outlive it.
struct Problem {
    const Columns* columns = nullptr;
    const Statistic* statistic = nullptr;
    std::uint64_t seed = 1;
};

/// Counts contingency tables and sums F over their cells. All results are integers, the same on
/// every device.
///
/// A shuffle of a pair permutes both columns by shuffle_column(). A shuffle of a triple permutes
/// columns j and k; column i is sorted by code instead (symbol 0 in the first rows, and so on),
/// because only the order of the columns relative to each other matters, and the rows of a symbol
/// of i are then a range.
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
    /// sample_pairs() for the triples of a tile; `observed` is from observe_triples().
    virtual void sample_triples(const TripleTile& tile, Block shuffles,
                                View<const std::int64_t, 1> observed, NullSums& sums) = 0;

    /// Seconds of GPU work in all calls until now, by the GPU's own clock, without copies and
    /// allocation. 0 without a GPU.
    virtual double gpu_seconds() const { return 0.0; }
};

/// The kernel of the context's device. Throws DeviceError.
std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context);

/// Counts row by row into a table of cells; one thread.
std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem);

/// Bit planes of eight shuffles side by side, counted by AND and population count.
std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, const Context& context);

/// Bit planes on the GPU `context.device.index`, counted by one-bit matrix products. Throws
/// DeviceError if that GPU is missing or out of memory.
std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context);

}  // namespace pleat::mutual_information
