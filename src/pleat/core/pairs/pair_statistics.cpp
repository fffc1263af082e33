// Pair statistics: sums of rows in four lanes, and histograms of threads added up.
#include "pleat/core/pairs/pair_statistics.h"

#include <mutex>
#include <numeric>
#include <utility>

#include "pleat/core/loops/additive_checkpoint.h"
#include "pleat/core/loops/parallel.h"

namespace pleat {

namespace {

using Histogram = std::vector<std::int64_t>;

struct RowTotals {
    double sum = 0.0;
    float min = 0.0f, max = 0.0f;
};

/// Counts `count` >= 1 values into bins.
RowTotals count_row(const float* values, Index count, double width, Histogram& histogram) {
    RowTotals totals{0.0, values[0], values[0]};
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

void add_histogram(const Histogram& from, Histogram& to) {
    to.resize(std::max(to.size(), from.size()));
    for (std::size_t bin = 0; bin < from.size(); ++bin) to[bin] += from[bin];
}

}  // namespace

PairStatistics::PairStatistics(double bin_width, std::vector<std::int64_t> histogram, double sum,
                               double min, double max)
    : bin_width_(bin_width), histogram_(std::move(histogram)), row_sums_{sum} {
    if (pairs() > 0) extremes_ = {-min, max};
}

void PairStatistics::add_rows(Block rows, int threads,
                              const std::function<const float*(Index row)>& values,
                              const std::function<Index(Index row)>& count) {
    std::vector<Histogram> histograms(threads);
    std::mutex mutex;
    parallel_for(threads, rows.count, [&](Index n, int thread) {
        const Index row = rows.first + n;
        if (count(row) == 0) return;
        const RowTotals totals = count_row(values(row), count(row), bin_width_, histograms[thread]);
        row_sums_[row] = totals.sum;
        const std::lock_guard lock(mutex);
        extremes_[0] = std::max<double>(extremes_[0], -totals.min);
        extremes_[1] = std::max<double>(extremes_[1], totals.max);
    });
    for (const Histogram& histogram : histograms) add_histogram(histogram, histogram_);
}

void PairStatistics::add_band(Block rows, Index items, const float* values, int threads) {
    const Index before = pairs_before(rows.first, items);
    add_rows(
        rows, threads, [=](Index row) { return values + pairs_before(row, items) - before; },
        [=](Index row) { return items - 1 - row; });
}

void PairStatistics::add(Index row, const PairStatistics& counted) {
    add_histogram(counted.histogram_, histogram_);
    row_sums_[row] += counted.sum();
    for (int side = 0; side < 2; ++side)
        extremes_[side] = std::max(extremes_[side], counted.extremes_[side]);
}

void PairStatistics::join(AdditiveCheckpoint& sums) {
    histogram_.resize(kMaxBins);
    sums.add("histogram", histogram_);
    // Each row's sum is nonzero on one rank only, and no value is negative.
    sums.raise("sums", row_sums_);
    sums.raise("extremes", extremes_);
}

void PairStatistics::trim() {
    while (!histogram_.empty() && histogram_.back() == 0) histogram_.pop_back();
}

std::int64_t PairStatistics::pairs() const {
    return std::accumulate(histogram_.begin(), histogram_.end(), std::int64_t{0});
}

double PairStatistics::sum() const {
    return std::accumulate(row_sums_.begin(), row_sums_.end(), 0.0);
}

double PairStatistics::min() const { return is_empty() ? 0.0 : 0.0 - extremes_[0]; }  // never -0

double PairStatistics::max() const { return is_empty() ? 0.0 : extremes_[1]; }

double PairStatistics::mean() const {
    const std::int64_t count = pairs();
    return count > 0 ? sum() / static_cast<double>(count) : 0.0;
}

}  // namespace pleat
