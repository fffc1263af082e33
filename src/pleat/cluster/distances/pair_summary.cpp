// Pair summary: rows summed by threads, and added in their order.
#include "pleat/cluster/distances/pair_summary.h"

#include <algorithm>
#include <utility>

#include "pleat/core/loops/parallel.h"
#include "pleat/core/math/value_bins.h"

namespace pleat::cluster {

PairSummary::PairSummary(Index count, double bin, int threads)
    : count_(count), bin_(bin), threads_(threads) {}

void PairSummary::add(Block rows, const float* distances) {
    const Index count = std::min(rows.count, count_ - 1 - rows.first);
    if (count <= 0) return;
    std::vector<ValueTotals> parts(static_cast<std::size_t>(count));
    std::vector<std::vector<std::int64_t>> histograms(static_cast<std::size_t>(threads_));
    const Index before = pairs_before(rows.first, count_);
    parallel_for(threads_, count, [&](Index n, int thread) {
        const Index i = rows.first + n;
        parts[n] = add_to_bins(distances + pairs_before(i, count_) - before, count_ - 1 - i, bin_,
                               histograms[thread]);
    });
    if (pairs_ == 0) least_ = parts[0].least;
    for (Index n = 0; n < count; ++n) {
        pairs_ += count_ - 1 - rows.first - n;
        sum_ += parts[n].sum;
        least_ = std::min<double>(least_, parts[n].least);
        most_ = std::max<double>(most_, parts[n].most);
    }
    for (const std::vector<std::int64_t>& histogram : histograms) {
        histogram_.resize(std::max(histogram_.size(), histogram.size()));
        for (std::size_t n = 0; n < histogram.size(); ++n) histogram_[n] += histogram[n];
    }
}

void PairSummary::add(PairTotals totals) {
    pairs_ = pairs_before(count_, count_);
    sum_ = totals.sum;
    least_ = totals.min;
    most_ = totals.max;
    histogram_ = std::move(totals.histogram);
}

}  // namespace pleat::cluster
