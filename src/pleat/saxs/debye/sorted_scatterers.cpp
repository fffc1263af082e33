// Sorted scatterers: sorting, and cutting segments into pieces.
#include "pleat/saxs/debye/sorted_scatterers.h"

#include <algorithm>
#include <numeric>

namespace pleat::saxs {

SortedScatterers sort_by_body(const Model& model, std::span<const std::int32_t> bodies,
                              Index body_count) {
    SortedScatterers result;
    result.order.resize(model.types.size());
    std::iota(result.order.begin(), result.order.end(), Index{0});
    const auto key = [&](Index i) {
        const auto n = static_cast<std::size_t>(i);
        return std::pair(bodies[n], model.types[n]);
    };
    std::stable_sort(result.order.begin(), result.order.end(),
                     [&](Index i, Index j) { return key(i) < key(j); });
    result.first_segment.assign(static_cast<std::size_t>(body_count) + 1, 0);
    for (Index index = 0; index < model.scatterer_count(); ++index) {
        const Index scatterer = result.order[static_cast<std::size_t>(index)];
        const bool joins =
            index > 0 && key(scatterer) == key(result.order[static_cast<std::size_t>(index - 1)]);
        if (!joins) {
            result.segments.push_back({key(scatterer).second, index, 0});
            ++result.first_segment[static_cast<std::size_t>(key(scatterer).first) + 1];
        }
        ++result.segments.back().count;
    }
    std::partial_sum(result.first_segment.begin(), result.first_segment.end(),
                     result.first_segment.begin());
    return result;
}

SortedScatterers sort_by_type(const Model& model) {
    return sort_by_body(model, std::vector<std::int32_t>(model.types.size(), 0), 1);
}

std::vector<TypeSegment> split_segments(const std::vector<TypeSegment>& segments, Index rows) {
    std::vector<TypeSegment> pieces;
    for (const TypeSegment& segment : segments) {
        const Index count = (segment.count + rows - 1) / rows,
                    size = (segment.count + count - 1) / count;
        for (Index first = 0; first < segment.count; first += size)
            pieces.push_back(
                {segment.type, segment.first + first, std::min(size, segment.count - first)});
    }
    return pieces;
}

}  // namespace pleat::saxs
