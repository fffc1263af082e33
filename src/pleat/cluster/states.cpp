// States: pairs of items a lag apart, and stretches of items in one cluster.
#include "pleat/cluster/states.h"

#include <iterator>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace pleat::cluster {

namespace {

template <class Visit>
void for_each_series(std::span<const std::int32_t> assignment, std::span<const Index> series,
                     const Visit& visit) {
    if (series.empty()) return visit(assignment);
    if (std::accumulate(series.begin(), series.end(), Index{0}) != std::ssize(assignment))
        throw std::logic_error("series of other lengths than the items");
    std::size_t first = 0;
    for (const Index length : series) {
        visit(assignment.subspan(first, static_cast<std::size_t>(length)));
        first += static_cast<std::size_t>(length);
    }
}

/// Returns the end of the run of consecutive items, from `first` on, for which `belongs` holds.
template <class Belongs>
std::size_t end_of_stretch(std::size_t first, std::size_t end, const Belongs& belongs) {
    while (first < end && belongs(first)) ++first;
    return first;
}

/// The median of visits whose lengths rise.
double median_of(std::span<const DwellCount> rising, std::int64_t visits) {
    const auto at = [&](std::int64_t rank) {
        for (const DwellCount& one : rising) {
            rank -= one.visits;
            if (rank < 0) return static_cast<double>(one.dwell);
        }
        return 0.0;
    };
    return (at((visits - 1) / 2) + at(visits / 2)) / 2;
}

DwellTimes summarise(std::span<const DwellCount> rising) {
    DwellTimes times{.cluster = rising.front().cluster};
    std::int64_t in_whole = 0;
    for (const DwellCount& one : rising) {
        times.items += one.dwell * (one.visits + one.cut);
        in_whole += one.dwell * one.visits;
        times.visits += one.visits;
        times.cut += one.cut;
        if (one.visits > 0) times.longest = one.dwell;
        if (one.cut > 0) times.longest_cut = one.dwell;
    }
    if (times.visits == 0) return times;
    times.mean = static_cast<double>(in_whole) / static_cast<double>(times.visits);
    times.median = median_of(rising, times.visits);
    return times;
}

}  // namespace

std::vector<Transition> count_transitions(std::span<const std::int32_t> assignment,
                                          std::span<const Index> series, Index lag) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> counts;
    std::map<std::int32_t, std::int64_t> from_counts;
    const auto distance = static_cast<std::size_t>(lag);
    for_each_series(assignment, series, [&](std::span<const std::int32_t> clusters) {
        for (std::size_t i = distance; i < clusters.size(); ++i) {
            ++counts[{clusters[i - distance], clusters[i]}];
            ++from_counts[clusters[i - distance]];
        }
    });
    std::vector<Transition> transitions;
    for (const auto& [step, count] : counts) {
        const std::int64_t all = from_counts.at(step.first);
        transitions.push_back({step.first, step.second, count, all,
                               static_cast<double>(count) / static_cast<double>(all)});
    }
    return transitions;
}

std::vector<DwellCount> count_dwells(std::span<const std::int32_t> assignment,
                                     std::span<const Index> series) {
    std::map<std::pair<std::int32_t, Index>, DwellCount> counts;
    for_each_series(assignment, series, [&](std::span<const std::int32_t> clusters) {
        for (std::size_t first = 0; first < clusters.size();) {
            const std::size_t end = end_of_stretch(first, clusters.size(), [&](std::size_t item) {
                return clusters[item] == clusters[first];
            });
            const auto dwell = static_cast<Index>(end - first);
            DwellCount& one = counts[{clusters[first], dwell}];
            one.cluster = clusters[first];
            one.dwell = dwell;
            ++(first == 0 || end == clusters.size() ? one.cut : one.visits);
            first = end;
        }
    });
    std::vector<DwellCount> all;
    all.reserve(counts.size());
    for (const auto& [key, one] : counts) all.push_back(one);
    return all;
}

std::vector<DwellTimes> summarise_dwells(std::span<const DwellCount> dwells) {
    std::vector<DwellTimes> all;
    for (std::size_t first = 0; first < dwells.size();) {
        const std::size_t end = end_of_stretch(first, dwells.size(), [&](std::size_t at) {
            return dwells[at].cluster == dwells[first].cluster;
        });
        all.push_back(summarise(dwells.subspan(first, end - first)));
        first = end;
    }
    return all;
}

}  // namespace pleat::cluster
