// Kernel: counts the contingency tables of columns and of their shuffles, on one device.
#pragma once

#include <cstdint>
#include <memory>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/view.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/count/tiles.h"

namespace pleat::mutual_information {

/// Maximum number of shuffles: squares of differences below 2^20, summed in 63 bits.
constexpr std::int64_t kMaxShuffles = (std::int64_t{1} << 22) - 1;

/// Sums over the shuffles so far for each item (a pair, or a triple of a tile), with T as in
/// Statistic, D = T_shuffled - T_observed and d = moment_difference(D, statistic.shift):
struct NullSums {
    NullSums() = default;
    explicit NullSums(Index items)
        : less_count(items),
          equal_count(items),
          first(items),
          second(items),
          third_low(items),
          third_high(items) {}

    Array<std::uint32_t, 1> less_count;   ///< shuffles with D < 0
    Array<std::uint32_t, 1> equal_count;  ///< shuffles with D = 0
    Array<std::int64_t, 1> first;         ///< sum of d
    Array<std::int64_t, 1> second;        ///< sum of d^2
    Array<std::int64_t, 1> third_low;     ///< sum of the low 32 bits of d^3 (two's complement)
    Array<std::int64_t, 1> third_high;    ///< sum of floor(d^3 / 2^32)

    Index items() const { return less_count.size(); }
};

/// How d becomes a Z value, and the maximum Z of each shuffle over all items (for the max-T family-
/// wise p).
struct LargestZ {
    View<const double, 1> z_centre;  ///< [item]: null mean of d; z = (d - z_centre) z_factor
    View<const double, 1> z_factor;  ///< [item]: 1 / standard deviation of d; 0: item left out
    View<double, 1> max_z;           ///< [shuffle - first]: raised to max over items of its z
};

/// The input of a kernel; both pointers must outlive it.
struct Problem {
    const CodedColumns* columns = nullptr;
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
    /// observe_pairs(); `highest_z` may be null.
    virtual void sample_pairs(Block shuffles, View<const std::int64_t, 1> observed, NullSums& sums,
                              const LargestZ* highest_z) = 0;
    /// sample_pairs() for the triples of a tile; `observed` is from observe_triples().
    virtual void sample_triples(const TripleTile& tile, Block shuffles,
                                View<const std::int64_t, 1> observed, NullSums& sums) = 0;

    /// Seconds of GPU work in all calls until now, by the GPU's own clock, without copies and
    /// allocation. 0 without a GPU.
    virtual double gpu_seconds() const { return 0.0; }
};

/// The kernel of the context's device. Throws DeviceError.
std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context);

/// Counts tables row by row on one thread.
std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem);

/// Bit planes of eight shuffles side by side, counted by AND and population count.
std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, const Context& context);

/// Bit planes on the GPU `context.device.index`, counted by one-bit matrix products. Throws
/// DeviceError if that GPU is missing or out of memory.
std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context);

}  // namespace pleat::mutual_information
