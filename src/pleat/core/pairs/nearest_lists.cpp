// Nearest lists: a heap per item, rows and columns of a band by different threads.
#include "pleat/core/pairs/nearest_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/loops/additive_checkpoint.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/pairs/pair_order.h"

namespace pleat {

NearestLists::NearestLists(Index count, Index length, Index others, bool has_two_sets)
    : items(Array<std::int32_t, 2>::unset(count, length)),
      distances(Array<float, 2>::unset(count, length)),
      others_(others),
      has_two_sets_(has_two_sets) {
    items.fill(std::numeric_limits<std::int32_t>::max());
    distances.fill(std::numeric_limits<float>::infinity());
}

void NearestLists::join(AdditiveCheckpoint& sums) { sums.collect("nearest", *this); }

void NearestLists::replace_farthest(Index item, Index length, const NearItem& other) {
    std::int32_t* const who = &items(item, 0);
    float* const distance = &distances(item, 0);
    const auto at = [&](Index n) { return NearItem{distance[n], who[n]}; };
    Index free = 0;
    for (Index child = 1; child < length; child = 2 * free + 1) {
        if (child + 1 < length && at(child) < at(child + 1)) ++child;
        if (!(other < at(child))) break;
        who[free] = who[child];
        distance[free] = distance[child];
        free = child;
    }
    who[free] = other.item;
    distance[free] = other.distance;
}

void NearestLists::offer(Index item, const NearItem& other) {
    if (length() == 0 || !(other < NearItem{distances(item, 0), items(item, 0)})) return;
    replace_farthest(item, length(), other);
}

void NearestLists::add(Block rows, const float* values, int threads, float sign) {
    constexpr Index kColumns = 512;
    const Index count = items.extent(0), end = std::min(rows.first + rows.count, count);
    const auto row = [&](Index i) {  // by the number of the other item
        return has_two_sets_
                   ? values + (i - rows.first) * others_
                   : values + pairs_before(i, count) - pairs_before(rows.first, count) - i - 1;
    };
    parallel_for(threads, end - rows.first, [&](Index n, int) {
        const Index i = rows.first + n;
        const float* const own = row(i);
        for (Index j = has_two_sets_ ? 0 : i + 1; j < others_; ++j)
            offer(i, {sign * own[j], static_cast<std::int32_t>(j)});
    });
    if (has_two_sets_) return;
    parallel_for(threads, (count + kColumns - 1) / kColumns, [&](Index block, int) {
        const Index last = std::min(count, (block + 1) * kColumns);
        for (Index i = rows.first; i < std::min(end, last); ++i) {
            const float* const own = row(i);
            for (Index j = std::max(block * kColumns, i + 1); j < last; ++j)
                offer(j, {sign * own[j], static_cast<std::int32_t>(i)});
        }
    });
}

void NearestLists::sort(int threads) {
    parallel_for(threads, items.extent(0), [&](Index item, int) {
        for (Index last = length() - 1; last > 0; --last) {
            const NearItem moved{distances(item, last), items(item, last)};
            distances(item, last) = distances(item, 0);
            items(item, last) = items(item, 0);
            replace_farthest(item, last, moved);
        }
    });
}

void NearestLists::save(NpzWriter& file, std::string_view name) const {
    file.add(fmt::format("{}_items", name), items.data(), {items.size()});
    file.add(fmt::format("{}_distances", name), distances.data(), {distances.size()});
}

void NearestLists::load(const NpzReader& file, std::string_view name) {
    const auto member = [&]<class T>(T, const char* ending) {
        const std::string full = fmt::format("{}_{}", name, ending);
        return file.get(full).as<T>(file.label(full));
    };
    offer_all(member(std::int32_t{}, "items"), member(0.0f, "distances"));
}

std::vector<std::uint8_t> NearestLists::bytes() const {
    std::vector<std::uint8_t> bytes(items.bytes() + distances.bytes());
    if (bytes.empty()) return bytes;
    std::memcpy(bytes.data(), items.data(), items.bytes());
    std::memcpy(bytes.data() + items.bytes(), distances.data(), distances.bytes());
    return bytes;
}

void NearestLists::merge(std::span<const std::uint8_t> bytes) {
    std::vector<std::int32_t> others(bytes.size() / 8);
    std::vector<float> values(others.size());
    std::memcpy(others.data(), bytes.data(), 4 * others.size());
    std::memcpy(values.data(), bytes.data() + 4 * others.size(), 4 * others.size());
    offer_all(others, values);
}

void NearestLists::offer_all(std::span<const std::int32_t> others, std::span<const float> values) {
    if (std::ssize(others) != items.size() || std::ssize(values) != items.size())
        throw InputError(fmt::format("expected {} nearest of all items, found {} and {}",
                                     items.size(), others.size(), values.size()));
    for (Index n = 0; n < items.size(); ++n) {
        const bool is_unused = others[n] == std::numeric_limits<std::int32_t>::max();
        if (!is_unused && (others[n] < 0 || others[n] >= others_))
            throw InputError(fmt::format("expected items below {}, found {}", others_, others[n]));
        offer(n / length(), {values[n], others[n]});
    }
}

}  // namespace pleat
