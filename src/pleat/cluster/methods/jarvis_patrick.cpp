// Jarvis-Patrick: links between items of different clusters so far, whose lists are compared.
#include "pleat/cluster/methods/jarvis_patrick.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/steps.h"

namespace pleat::cluster {

namespace {

/// Sets of items that become one.
class Sets {
public:
    explicit Sets(Index count) : parent_(static_cast<std::size_t>(count)) {
        std::iota(parent_.begin(), parent_.end(), 0);
    }
    /// The lowest item of the set.
    std::int32_t find(std::int32_t item) {
        while (parent_[item] != item) item = parent_[item] = parent_[parent_[item]];
        return item;
    }
    void join(std::int32_t a, std::int32_t b) {
        const std::int32_t first = find(a), second = find(b);
        parent_[std::max(first, second)] = std::min(first, second);
    }

private:
    std::vector<std::int32_t> parent_;
};

}  // namespace

Clustering jarvis_patrick(const ItemLists& neighbours, std::int64_t common,
                          const Context& context) {
    const Index count = neighbours.count();
    Sets sets(count);
    std::vector<std::uint8_t> is_neighbour(static_cast<std::size_t>(count));
    constexpr Index kBlock = 256;
    for_each_block(context, "cluster", count, kBlock, [&](Index first, Index size) {
        for (Index i = first; i < first + size; ++i) {
            for (const std::int32_t k : neighbours.of(i)) is_neighbour[k] = 1;
            for (const std::int32_t j : neighbours.of(i)) {
                // Each pair once, and none that is in one cluster already.
                if (j <= i || sets.find(static_cast<std::int32_t>(i)) == sets.find(j)) continue;
                const std::span<const std::int32_t> others = neighbours.of(j);
                if (!std::binary_search(others.begin(), others.end(), i)) continue;
                const auto shared =
                    std::count_if(others.begin(), others.end(),
                                  [&](std::int32_t k) { return is_neighbour[k] != 0; });
                if (shared >= common) sets.join(static_cast<std::int32_t>(i), j);
            }
            for (const std::int32_t k : neighbours.of(i)) is_neighbour[k] = 0;
        }
    });
    Clustering result;
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(count), kNoise);
    std::int32_t next = 0;
    for (Index i = 0; i < count; ++i) {
        std::int32_t& number = numbers[sets.find(static_cast<std::int32_t>(i))];
        if (number == kNoise) number = next++;
        result.assignment.push_back(number);
    }
    number_by_size(result);
    return result;
}

ItemLists lists_of(const Neighbours& neighbours) {
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
            for (Index word = 0; word < neighbours.words(); ++word)
                for (std::uint64_t more = bits[word]; more != 0; more &= more - 1) {
                    const Index other = 64 * word + std::countr_zero(more);
                    if (other != item) lists.items.push_back(static_cast<std::int32_t>(other));
                }
            lists.starts.push_back(static_cast<std::int64_t>(lists.items.size()));
        });
    }
    return lists;
}

}  // namespace pleat::cluster
