// Reduced curves: the extremes and the most frequent label of each block.
#include "pleat/report/reduced_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace pleat::report {

namespace {

void add_stretch(ReducedSteps& steps, std::int64_t label, std::int64_t length) {
    if (!steps.labels.empty() && steps.labels.back() == label) {
        steps.lengths.back() += length;
        return;
    }
    steps.labels.push_back(label);
    steps.lengths.push_back(length);
}

std::int64_t mode_of(std::span<const std::int64_t> labels) {
    std::map<std::int64_t, std::int64_t> counts;
    for (const std::int64_t label : labels) ++counts[label];
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

}  // namespace

std::string ReducedCurve::note(const std::string& item) const {
    return block == 1
               ? ""
               : fmt::format("The minimum and the maximum of every {} {} are drawn.", block, item);
}

ReducedCurve reduce_curve(std::span<const double> positions, std::span<const double> values,
                          Index max_positions) {
    const auto count = static_cast<Index>(values.size());
    if (count <= max_positions)
        return {{positions.begin(), positions.end()}, {values.begin(), values.end()}, 1};
    const Index blocks = std::max<Index>(max_positions / 2, 1);
    ReducedCurve curve;
    curve.block = (count + blocks - 1) / blocks;
    for (Index first = 0; first < count; first += curve.block) {
        const Index last = std::min(first + curve.block, count);
        Index min = first, max = first;
        for (Index n = first + 1; n < last; ++n) {
            if (std::isnan(values[n])) continue;
            if (!(values[n] >= values[min])) min = n;
            if (!(values[n] <= values[max])) max = n;
        }
        const auto add = [&](Index n) {
            curve.positions.push_back(positions[n]);
            curve.values.push_back(values[n]);
        };
        add(std::min(min, max));
        if (min != max) add(std::max(min, max));
    }
    return curve;
}

std::string ReducedSteps::note(const std::string& item) const {
    return block == 1 ? ""
                      : fmt::format("Each step is the most frequent value of {} {}.", block, item);
}

ReducedSteps reduce_steps(std::span<const std::int64_t> labels, Index max_positions) {
    ReducedSteps steps;
    for (const std::int64_t label : labels) add_stretch(steps, label, 1);
    if (static_cast<Index>(steps.labels.size()) <= max_positions) return steps;
    const auto count = static_cast<Index>(labels.size());
    steps = {};
    steps.block = (count + max_positions - 1) / max_positions;
    for (Index first = 0; first < count; first += steps.block) {
        const Index length = std::min(steps.block, count - first);
        add_stretch(steps, mode_of(labels.subspan(first, length)), length);
    }
    return steps;
}

}  // namespace pleat::report
