// Pair summary: least, mean, greatest and histogram of all distances.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/cluster/distances/distances.h"
#include "pleat/core/loops/sweep.h"

#pragma GCC visibility push(default)

namespace pleat::cluster {

/// Adds up bands of a condensed matrix; the same for any number of threads.
class PairSummary {
public:
    PairSummary(Index count, double bin, int threads);
    void add(Block rows, const float* distances);
    /// All pairs at once, where a source has counted them.
    void add(PairTotals totals);

    Index pairs() const { return pairs_; }
    double least() const { return pairs_ > 0 ? least_ : 0.0; }
    double most() const { return most_; }
    double mean() const { return pairs_ > 0 ? sum_ / static_cast<double>(pairs_) : 0.0; }
    double bin() const { return bin_; }
    /// Count n: distances from n * bin up to but without (n + 1) * bin; the last of kMaxBins holds
    /// all beyond.
    const std::vector<std::int64_t>& histogram() const { return histogram_; }

private:
    Index count_;
    double bin_;
    int threads_;
    Index pairs_ = 0;
    double sum_ = 0.0, least_ = 0.0, most_ = 0.0;
    std::vector<std::int64_t> histogram_;
};

}  // namespace pleat::cluster

#pragma GCC visibility pop
