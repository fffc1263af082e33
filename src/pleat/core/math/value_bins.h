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

/// The last of so many bins holds all values beyond.
inline constexpr Index kMostBins = 100000;

/// The bin of a value >= 0: n holds those from n * width up to but without (n + 1) * width.
inline std::size_t bin_of(float value, double width) {
    return static_cast<std::size_t>(std::min(value / width, kMostBins - 1.0));
}

struct ValueTotals {
    double sum = 0.0;
    float least = 0.0f, most = 0.0f;
};

/// Counts `count` values (one at least) into bins, of which `histogram` gets as many as are needed.
/// The sum depends on the order of the values, on nothing else.
inline ValueTotals add_to_bins(const float* values, Index count, double width,
                               std::vector<std::int64_t>& histogram) {
    ValueTotals totals{0.0, values[0], values[0]};
    double sums[4] = {};
    for (Index n = 0; n < count; ++n) {
        sums[n % 4] += values[n];
        totals.least = std::min(totals.least, values[n]);
        totals.most = std::max(totals.most, values[n]);
    }
    totals.sum = sums[0] + sums[1] + sums[2] + sums[3];
    histogram.resize(std::max(histogram.size(), bin_of(totals.most, width) + 1));
    for (Index n = 0; n < count; ++n) ++histogram[bin_of(values[n], width)];
    return totals;
}

}  // namespace pleat

#pragma GCC visibility pop
