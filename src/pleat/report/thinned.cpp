// Thinning: the extremes of blocks, and what most of a block is.
#include "pleat/report/thinned.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace pleat::report {

namespace {

void add_run(ThinnedSteps& steps, std::int64_t label, std::int64_t length) {
    if (!steps.labels.empty() && steps.labels.back() == label) {
        steps.lengths.back() += length;
        return;
    }
    steps.labels.push_back(label);
    steps.lengths.push_back(length);
}

std::int64_t most_frequent(std::span<const std::int64_t> labels) {
    std::map<std::int64_t, std::int64_t> counts;
    for (const std::int64_t label : labels) ++counts[label];
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

}  // namespace

std::string ThinnedCurve::note(const std::string& item) const {
    return block == 1 ? ""
                      : fmt::format("Of every {} {} the least and the greatest value are drawn.",
                                    block, item);
}

ThinnedCurve thin_curve(std::span<const double> positions, std::span<const double> values,
                        Index most) {
    const auto count = static_cast<Index>(values.size());
    if (count <= most)
        return {{positions.begin(), positions.end()}, {values.begin(), values.end()}, 1};
    const Index blocks = std::max<Index>(most / 2, 1);
    ThinnedCurve curve;
    curve.block = (count + blocks - 1) / blocks;
    for (Index first = 0; first < count; first += curve.block) {
        const Index last = std::min(first + curve.block, count);
        Index least = first, greatest = first;
        for (Index n = first + 1; n < last; ++n) {
            if (std::isnan(values[n])) continue;
            if (!(values[n] >= values[least])) least = n;
            if (!(values[n] <= values[greatest])) greatest = n;
        }
        const auto add = [&](Index n) {
            curve.positions.push_back(positions[n]);
            curve.values.push_back(values[n]);
        };
        add(std::min(least, greatest));
        if (least != greatest) add(std::max(least, greatest));
    }
    return curve;
}

std::string ThinnedSteps::note(const std::string& item) const {
    return block == 1 ? "" : fmt::format("Each step is what most of {} {} are.", block, item);
}

ThinnedSteps thin_steps(std::span<const std::int64_t> labels, Index most) {
    ThinnedSteps steps;
    for (const std::int64_t label : labels) add_run(steps, label, 1);
    if (static_cast<Index>(steps.labels.size()) <= most) return steps;
    const auto count = static_cast<Index>(labels.size());
    steps = {};
    steps.block = (count + most - 1) / most;
    for (Index first = 0; first < count; first += steps.block) {
        const Index length = std::min(steps.block, count - first);
        add_run(steps, most_frequent(labels.subspan(first, length)), length);
    }
    return steps;
}

}  // namespace pleat::report
