// Pair statistics: number, minimum, mean, maximum and histogram of the values of pairs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "pleat/core/loops/sweep.h"
#include "pleat/core/pairs/pair_order.h"

#pragma GCC visibility push(default)

namespace pleat {

class AdditiveCheckpoint;

/// Maximum number of histogram bins; the last bin also counts all larger values.
inline constexpr Index kMaxBins = 100000;

/// The bin of a value >= 0: bin n counts the values in [n * width, (n + 1) * width).
inline std::size_t bin_of(float value, double width) {
    return static_cast<std::size_t>(std::min(value / width, kMaxBins - 1.0));
}

/// Statistics of values >= 0 that are added row by row. The result does not depend on the order of
/// rows, on threads or on ranks: each row is summed by itself, and the sums of rows are added in
/// the order of their numbers.
class PairStatistics {
public:
    PairStatistics() = default;
    /// For values of the rows [0, rows); `bin_width` > 0.
    PairStatistics(Index rows, double bin_width) : bin_width_(bin_width), row_sums_(rows) {}
    /// Statistics computed elsewhere; `min` and `max` are ignored if there are no pairs.
    PairStatistics(double bin_width, std::vector<std::int64_t> histogram, double sum, double min,
                   double max);

    /// Adds rows, each of which must be added once: `values(row)` returns a pointer to its values,
    /// and `count(row)` how many there are.
    void add_rows(Block rows, int threads, const std::function<const float*(Index row)>& values,
                  const std::function<Index(Index row)>& count);
    /// Adds the values of each item of `rows` with all later ones of `items` items, in condensed
    /// order.
    void add_band(Block rows, Index items, const float* values, int threads);
    /// Adds statistics computed elsewhere; their sum is stored as that of `row`.
    void add(Index row, const PairStatistics& counted);

    /// Registers the numbers with `sums`, which saves them and adds them up over ranks. This object
    /// must outlive `sums`.
    void join(AdditiveCheckpoint& sums);
    /// Removes empty bins at the end of the histogram.
    void trim();

    double bin_width() const { return bin_width_; }
    std::int64_t pairs() const;
    double sum() const;
    double min() const;   ///< 0 if there are no pairs
    double max() const;   ///< 0 if there are no pairs
    double mean() const;  ///< 0 if there are no pairs
    /// Count n: values in [n * bin_width(), (n + 1) * bin_width()); the last of kMaxBins bins also
    /// counts all larger values.
    const std::vector<std::int64_t>& histogram() const { return histogram_; }

private:
    bool is_empty() const { return extremes_[1] < 0; }

    double bin_width_ = 0.05;
    std::vector<std::int64_t> histogram_;
    std::vector<double> row_sums_;
    /// Holds -minimum and maximum, so that both are combined by taking the larger value.
    std::vector<double> extremes_ =
        std::vector<double>(2, -std::numeric_limits<double>::infinity());
};

}  // namespace pleat

#pragma GCC visibility pop
