// Null sums: sums over the shuffles of each pair or triple, in integers that add up in any order.
#pragma once

#include <cstdint>

#include "pleat/core/array.h"

namespace pleat::mutual_information {

/// Maximum number of shuffles: squares of differences below 2^20, summed in 63 bits.
constexpr std::int64_t kMaxShuffles = (std::int64_t{1} << 22) - 1;

/// For each item (a pair, or a triple of a tile), over the shuffles so far, with T as in Statistic,
/// D = T_shuffled - T_observed and d = moment_difference(D, statistic.shift):
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

}  // namespace pleat::mutual_information
