// Nearest: insertion into lists of the nearest frames, and sorting them.
#include "pleat/rmsd/pairs/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::rmsd {

Nearest empty_nearest(Index frames, Index count, const MetricTraits& metric) {
    Nearest nearest;
    nearest.indices = Array<std::int32_t, 2>(frames, count);
    nearest.indices.fill(-1);
    nearest.values = Array<float, 2>(frames, count);
    const float far = std::numeric_limits<float>::infinity();
    nearest.values.fill(metric.is_score ? -far : far);
    return nearest;
}

namespace {

/// The list of one frame. Elements without a frame (-1) are the farthest.
struct Row {
    float* values;
    std::int32_t* indices;
    Index count;
    const MetricTraits& metric;

    bool is_before(float value, std::int32_t index, Index position) const {
        if (index < 0 || indices[position] < 0) return index >= 0;
        return value == values[position] ? index < indices[position]
                                         : metric.is_nearer(value, values[position]);
    }
    /// Replaces the first element of the heap, and moves the new one down to its position.
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

void keep_nearest(Nearest& nearest, Index frame, Index other, float value,
                  const MetricTraits& metric) {
    Row row{nearest.values[frame].data, nearest.indices[frame].data, nearest.values.extent(1),
            metric};
    const auto index = static_cast<std::int32_t>(other);
    if (row.is_before(value, index, 0)) row.replace_first(value, index);
}

void sort_nearest(Nearest& nearest, const MetricTraits& metric, int threads) {
    const Index count = nearest.values.size() == 0 ? 0 : nearest.values.extent(1);
    parallel_for(threads, count == 0 ? 0 : nearest.values.extent(0), [&](Index frame, int) {
        Row row{nearest.values[frame].data, nearest.indices[frame].data, count, metric};
        while (--row.count > 0) {
            const float value = row.values[row.count];
            const std::int32_t index = row.indices[row.count];
            row.values[row.count] = row.values[0];
            row.indices[row.count] = row.indices[0];
            row.replace_first(value, index);
        }
    });
}

void require_list_memory(Index pairs, std::int64_t bytes) {
    require_memory(bytes, fmt::format("the list of {} pairs below the cutoff", pairs),
                   "take a smaller --cutoff (of scores a larger one)");
}

}  // namespace pleat::rmsd
