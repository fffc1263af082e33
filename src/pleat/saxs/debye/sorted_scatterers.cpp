// Sorted scatterers: classes of scales, sorting, and cutting segments into pieces.
#include "pleat/saxs/debye/sorted_scatterers.h"

#include <algorithm>
#include <numeric>

namespace pleat::saxs {

ScaleClasses::ScaleClasses(const Model& model) {
    for (const std::uint8_t scaled : model.scaled)
        has_unscaled_class = has_unscaled_class || scaled == 0;
    count = has_unscaled_class ? 1 : 0;
    for (const std::uint8_t scaled : model.scaled) {
        if (scaled == 1) ++count;
        class_of_channel.push_back(scaled == 0 ? 0 : count - 1);
    }
    scattering_ = Array<std::uint8_t, 2>(count, model.type_count());
    for (Index c = 0; c < model.channel_count(); ++c) {
        const Index of_class = class_of_channel[c];
        for (Index type = 0; type < model.type_count(); ++type)
            for (Index k = 0; k < model.q_count(); ++k)
                if (model.factors(c, type, k) != 0.0) scattering_(of_class, type) = 1;
    }
}

SortedScatterers sort_by_body(const Model& model, std::span<const std::int32_t> bodies,
                              Index body_count) {
    SortedScatterers result;
    result.order.resize(model.types.size());
    std::iota(result.order.begin(), result.order.end(), Index{0});
    const auto key = [&](Index i) { return std::pair(bodies[i], model.types[i]); };
    std::ranges::stable_sort(result.order, [&](Index i, Index j) { return key(i) < key(j); });
    result.first_segment.assign(static_cast<std::size_t>(body_count) + 1, 0);
    for (Index index = 0; index < model.scatterer_count(); ++index) {
        const Index scatterer = result.order[index];
        const bool joins = index > 0 && key(scatterer) == key(result.order[index - 1]);
        if (!joins) {
            result.segments.push_back({key(scatterer).second, index, 0});
            ++result.first_segment[key(scatterer).first + 1];
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
