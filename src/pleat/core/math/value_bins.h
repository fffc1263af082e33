// Value bins: the histogram of many values with their sum and extremes, counted the same
// everywhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat {

/// Largest number of bins; the last one holds all larger values.
inline constexpr Index kMaxBins = 100000;

/// The bin of a value >= 0: bin n holds the interval [n * width, (n + 1) * width).
inline std::size_t bin_of(float value, double width) {
    return static_cast<std::size_t>(std::min(value / width, kMaxBins - 1.0));
}

struct ValueTotals {
    double sum = 0.0;
    float min = 0.0f, max = 0.0f;
};

/// Counts `count` values (at least one) into the bins of `histogram`, which grows as needed. The
/// sum depends only on the values and their order.
inline ValueTotals add_to_bins(const float* values, Index count, double width,
                               std::vector<std::int64_t>& histogram) {
    ValueTotals totals{0.0, values[0], values[0]};
    double sums[4] = {};
    for (Index n = 0; n < count; ++n) {
        sums[n % 4] += values[n];
        totals.min = std::min(totals.min, values[n]);
        totals.max = std::max(totals.max, values[n]);
    }
    totals.sum = sums[0] + sums[1] + sums[2] + sums[3];
    histogram.resize(std::max(histogram.size(), bin_of(totals.max, width) + 1));
    for (Index n = 0; n < count; ++n) ++histogram[bin_of(values[n], width)];
    return totals;
}

}  // namespace pleat

#pragma GCC visibility pop
