// Connected items: DBSCAN from core to core, and Jarvis-Patrick by links between lists.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "pleat/cluster/methods/methods.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/steps.h"

namespace pleat::cluster {

Clustering dbscan(const ItemNeighbours& neighbours, std::int64_t min_neighbours,
                  const Context& context) {
    const Index count = neighbours.count();
    const std::vector<std::int32_t>& degrees = neighbours.degrees();
    Clustering result;
    result.assignment.assign(static_cast<std::size_t>(count), kNoise);
    std::vector<std::uint64_t> left(static_cast<std::size_t>(neighbours.words()),
                                    ~std::uint64_t{0});
    std::int32_t next = 0;
    StageProgress progress(context, "cluster", count);
    std::vector<Index> wave, following;
    const auto reach = [&](Index item) {
        result.assignment[item] = next;
        left[item / 64] &= ~(std::uint64_t{1} << item % 64);
        if (degrees[item] >= min_neighbours) following.push_back(item);
    };
    for (Index seed = 0; seed < count; ++seed) {
        if (result.assignment[seed] != kNoise || degrees[seed] < min_neighbours) continue;
        reach(seed);
        while (!following.empty()) {
            wave.swap(following);
            following.clear();
            neighbours.visit_rows(wave, [&](Index, const std::uint64_t* bits) {
                for_each_common(bits, left.data(), neighbours.words(), reach);
            });
            progress.check();
        }
        ++next;
        progress.advance_to(seed + 1);
    }
    progress.advance_to(count);
    number_by_size(result);
    return result;
}

Clustering jarvis_patrick(const ItemLists& neighbours, std::int64_t common,
                          const Context& context) {
    const Index count = neighbours.count();
    ItemSets sets(count);
    std::vector<std::uint8_t> is_neighbour(static_cast<std::size_t>(count));
    constexpr Index kBlock = 256;
    for_each_block(context, "cluster", count, kBlock, [&](Index first, Index size) {
        for (Index i = first; i < first + size; ++i) {
            for (const std::int32_t k : neighbours.of(i)) is_neighbour[k] = 1;
            for (const std::int32_t j : neighbours.of(i)) {
                // Visits each pair once and skips pairs already in the same cluster.
                const Index own = sets.root(i), other = sets.root(j);
                if (j <= i || own == other) continue;
                const std::span<const std::int32_t> others = neighbours.of(j);
                if (!std::binary_search(others.begin(), others.end(), i)) continue;
                const auto shared =
                    std::count_if(others.begin(), others.end(),
                                  [&](std::int32_t k) { return is_neighbour[k] != 0; });
                if (shared >= common) sets.join(std::max(own, other), std::min(own, other));
            }
            for (const std::int32_t k : neighbours.of(i)) is_neighbour[k] = 0;
        }
    });
    return sets.clusters(count);
}

ItemLists lists_of(const ItemNeighbours& neighbours) {
    std::int64_t listed = 0;
    for (const std::int32_t degree : neighbours.degrees()) listed += degree - 1;
    require_memory(4 * listed, fmt::format("lists of {} neighbours", listed),
                   "take a smaller cutoff, or --nearest");
    ItemLists lists;
    lists.items.reserve(static_cast<std::size_t>(listed));
    std::vector<Index> some;
    for (Index first = 0; first < neighbours.count(); first += neighbours.batch()) {
        some.resize(
            static_cast<std::size_t>(std::min(neighbours.batch(), neighbours.count() - first)));
        std::iota(some.begin(), some.end(), first);
        neighbours.visit_rows(some, [&](Index item, const std::uint64_t* bits) {
            for_each_common(bits, bits, neighbours.words(), [&](Index other) {
                if (other != item) lists.items.push_back(static_cast<std::int32_t>(other));
            });
            lists.starts.push_back(static_cast<std::int64_t>(lists.items.size()));
        });
    }
    return lists;
}

ItemLists lists_of(const NearestLists& nearest, const PairSource& distances,
                   std::optional<double> cutoff) {
    std::optional<Cutoff> limit;
    if (cutoff) limit.emplace(distances, *cutoff);
    ItemLists lists;
    for (Index i = 0; i < distances.count(); ++i) {
        for (Index rank = 0; rank < nearest.length(); ++rank)
            if (!limit || limit->is_below(nearest.distances(i, rank), i, nearest.items(i, rank)))
                lists.items.push_back(nearest.items(i, rank));
        std::sort(lists.items.begin() + lists.starts.back(), lists.items.end());
        lists.starts.push_back(static_cast<std::int64_t>(lists.items.size()));
    }
    return lists;
}

}  // namespace pleat::cluster
