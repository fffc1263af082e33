// Tally: counting into bins, and insertion into lists of the nearest.
#include "pleat/rmsd/pairs/tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"

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

namespace {

/// The nearest of one frame. Places without a frame (-1) are the farthest.
struct Row {
    float* values;
    std::int32_t* indices;
    Index count;
    const Metric& metric;

    bool is_before(float value, std::int32_t index, Index place) const {
        if (index < 0 || indices[place] < 0) return index >= 0;
        return value == values[place] ? index < indices[place]
                                      : metric.is_nearer(value, values[place]);
    }
    /// Puts a pair on the heap's first place, and moves it down to where it belongs.
    void replace_first(float value, std::int32_t index) {
        Index at = 0;
        for (Index next = 1; next < count; next = 2 * at + 1) {
            if (next + 1 < count && is_before(values[next], indices[next], next + 1)) ++next;
            if (!is_before(value, index, next)) break;
            values[at] = values[next];
            indices[at] = indices[next];
            at = next;
        }
        values[at] = value;
        indices[at] = index;
    }
};

}  // namespace

void keep_nearest(Best& best, Index frame, Index other, float value, const Metric& metric) {
    Row row{best.rmsd[frame].data, best.indices[frame].data, best.rmsd.extent(1), metric};
    const auto index = static_cast<std::int32_t>(other);
    if (row.is_before(value, index, 0)) row.replace_first(value, index);
}

void sort_best(Best& best, const Metric& metric, int threads) {
    const Index count = best.rmsd.size() == 0 ? 0 : best.rmsd.extent(1);
    parallel_for(threads, count == 0 ? 0 : best.rmsd.extent(0), [&](Index frame, int) {
        Row row{best.rmsd[frame].data, best.indices[frame].data, count, metric};
        while (--row.count > 0) {
            const float value = row.values[row.count];
            const std::int32_t index = row.indices[row.count];
            row.values[row.count] = row.values[0];
            row.indices[row.count] = row.indices[0];
            row.replace_first(value, index);
        }
    });
}

void require_list(Index pairs, std::int64_t more) {
    require_memory(more, fmt::format("the list of {} pairs within the cut-off", pairs),
                   "take a smaller --cutoff (of scores a larger one)");
}

}  // namespace pleat::rmsd
