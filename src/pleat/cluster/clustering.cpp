// Clustering: counting clusters, listing their items, numbering by size.
#include <algorithm>
#include <numeric>

#include "pleat/cluster/cluster.h"

namespace pleat::cluster {
Index Clustering::cluster_count() const {
    return assignment.empty() ? 0 : 1 + *std::max_element(assignment.begin(), assignment.end());
}

std::vector<std::vector<Index>> Clustering::members() const {
    std::vector<std::vector<Index>> items(static_cast<std::size_t>(cluster_count()));
    for (std::size_t i = 0; i < assignment.size(); ++i)
        if (assignment[i] != kNoise) items[assignment[i]].push_back(static_cast<Index>(i));
    return items;
}

void number_by_size(Clustering& clustering) {
    const std::vector<std::vector<Index>> items = clustering.members();
    std::vector<std::int32_t> order(items.size()), number(items.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        return items[a].size() != items[b].size() ? items[a].size() > items[b].size()
                                                  : items[a].front() < items[b].front();
    });
    for (std::size_t n = 0; n < order.size(); ++n) number[order[n]] = static_cast<std::int32_t>(n);
    for (std::int32_t& cluster : clustering.assignment)
        if (cluster != kNoise) cluster = number[cluster];
    if (clustering.centres.empty()) return;
    const std::vector<Index> centres = clustering.centres;
    for (std::size_t n = 0; n < order.size(); ++n) clustering.centres[n] = centres[order[n]];
}

}  // namespace pleat::cluster
