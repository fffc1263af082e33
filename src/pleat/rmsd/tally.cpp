// Tally: counting into bins, and insertion into lists of the nearest.
#include "pleat/rmsd/tally.h"

#include <algorithm>
#include <limits>

namespace pleat::rmsd {

void Tally::add(const float* values, Index count) {
    if (count == 0) return;
    const ValueTotals part = add_to_bins(values, count, bin_, histogram_);
    sum_ += part.sum;
    least_ = count_ == 0 ? part.least : std::min<double>(least_, part.least);
    most_ = count_ == 0 ? part.most : std::max<double>(most_, part.most);
    count_ += count;
}

void Tally::finish(Result& result) {
    result.histogram = std::move(histogram_);
    result.least = least_;
    result.most = most_;
    result.mean = count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_);
}

Best empty_best(Index frames, Index count, const Metric& metric) {
    Best best;
    best.indices = Array<std::int32_t, 2>(frames, count);
    best.indices.fill(-1);
    best.rmsd = Array<float, 2>(frames, count);
    const float far = std::numeric_limits<float>::infinity();
    best.rmsd.fill(metric.is_score ? -far : far);
    return best;
}

void keep_nearest(Best& best, Index frame, Index other, float value, const Metric& metric) {
    const Index kept = best.rmsd.extent(1);
    float* const values = best.rmsd[frame].data;
    std::int32_t* const indices = best.indices[frame].data;
    // Room that is free has no frame yet, and all go before it.
    const auto is_before = [&](Index place) {
        return metric.is_nearer(value, values[place]) || indices[place] < 0 ||
               (value == values[place] && other < indices[place]);
    };
    if (!is_before(kept - 1)) return;
    Index at = kept - 1;
    while (at > 0 && is_before(at - 1)) --at;
    std::move_backward(values + at, values + kept - 1, values + kept);
    std::move_backward(indices + at, indices + kept - 1, indices + kept);
    values[at] = value;
    indices[at] = static_cast<std::int32_t>(other);
}

}  // namespace pleat::rmsd
