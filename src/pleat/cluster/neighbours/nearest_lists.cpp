// Nearest lists: a heap per item, rows and columns of a band by different threads.
#include "pleat/cluster/neighbours/nearest_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/additive_checkpoint.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/ranks/gather_rows.h"

namespace pleat::cluster {

NearestLists::NearestLists(Index items, Index nearest, const Context& context)
    : context_(context), items_(items), nearest_(std::min(nearest, items - 1)) {
    static_assert(sizeof(NearItem) == 8);
    // Shared lists pass through a copy of their bytes.
    require_memory(16 * items_ * nearest_ * context.local_ranks(),
                   fmt::format("{} nearest of each of {} items", nearest_, items_),
                   "take fewer nearest ones");
    lists_.assign(
        static_cast<std::size_t>(items_ * nearest_),
        {std::numeric_limits<float>::infinity(), std::numeric_limits<std::int32_t>::max()});
}

void NearestLists::join(AdditiveCheckpoint& sums) { sums.collect("nearest", *this); }

void NearestLists::offer(Index item, const NearItem& other) {
    NearItem* const first = lists_.data() + item * nearest_;
    if (nearest_ == 0 || !(other < *first)) return;
    std::pop_heap(first, first + nearest_);
    first[nearest_ - 1] = other;
    std::push_heap(first, first + nearest_);
}

void NearestLists::add(Block rows, const float* distances) {
    constexpr Index kColumns = 512;
    const int threads = resolve_threads(context_);
    const Index before = pairs_before(rows.first, items_);
    const auto row = [&](Index i) {  // by the number of the later item
        return distances + pairs_before(i, items_) - before - i - 1;
    };
    parallel_for(threads, rows.count, [&](Index n, int) {
        const Index i = rows.first + n;
        const float* const values = row(i);
        for (Index j = i + 1; j < items_; ++j) offer(i, {values[j], static_cast<std::int32_t>(j)});
    });
    parallel_for(threads, (items_ + kColumns - 1) / kColumns, [&](Index block, int) {
        const Index end = std::min(items_, (block + 1) * kColumns);
        for (Index i = rows.first; i < std::min(rows.first + rows.count, end); ++i) {
            const float* const values = row(i);
            for (Index j = std::max(block * kColumns, i + 1); j < end; ++j)
                offer(j, {values[j], static_cast<std::int32_t>(i)});
        }
    });
}

void NearestLists::share() {
    all_gather_rows(context_, View<NearItem, 2>(lists_.data(), Index{1}, items_ * nearest_),
                    std::vector<std::uint8_t>{context_.rank() == 0});
}

ItemLists NearestLists::below(const PairSource& distances, std::optional<double> cutoff) const {
    const double error = cutoff ? distances.error(*cutoff) : 0.0;
    const auto is_below = [&](Index item, const NearItem& near) {
        if (!cutoff || near.distance < static_cast<float>(*cutoff - error)) return true;
        return near.distance <= static_cast<float>(*cutoff + error) &&
               distances.is_below(std::min<Index>(item, near.item),
                                  std::max<Index>(item, near.item), *cutoff);
    };
    ItemLists lists;
    for (Index i = 0; i < items_; ++i) {
        for (Index n = i * nearest_; n < (i + 1) * nearest_; ++n) {
            const NearItem& near = lists_[static_cast<std::size_t>(n)];
            if (is_below(i, near)) lists.items.push_back(near.item);
        }
        std::sort(lists.items.begin() + lists.starts.back(), lists.items.end());
        lists.starts.push_back(static_cast<std::int64_t>(lists.items.size()));
    }
    return lists;
}

void NearestLists::save(NpzWriter& file, std::string_view name) const {
    file.add(name, reinterpret_cast<const std::uint8_t*>(lists_.data()),
             {static_cast<Index>(lists_.size()), Index{8}});
}

void NearestLists::load(const NpzReader& file, std::string_view name) {
    const std::string member(name);
    merge(file.get(member).as<std::uint8_t>(file.label(member)));
}

std::vector<std::uint8_t> NearestLists::bytes() const {
    std::vector<std::uint8_t> bytes(lists_.size() * sizeof(NearItem));
    if (!bytes.empty()) std::memcpy(bytes.data(), lists_.data(), bytes.size());
    return bytes;
}

void NearestLists::merge(std::span<const std::uint8_t> bytes) {
    std::vector<NearItem> others(lists_.size());
    if (bytes.size() != others.size() * sizeof(NearItem))
        throw InputError(fmt::format("expected {} nearest of all items, found {} bytes",
                                     others.size(), bytes.size()));
    if (!bytes.empty()) std::memcpy(others.data(), bytes.data(), bytes.size());
    for (std::size_t n = 0; n < others.size(); ++n) {
        const bool is_unused = others[n].item == std::numeric_limits<std::int32_t>::max();
        if (!is_unused && (others[n].item < 0 || others[n].item >= items_))
            throw InputError(
                fmt::format("expected items below {}, found {}", items_, others[n].item));
        offer(static_cast<Index>(n) / nearest_, others[n]);
    }
}

}  // namespace pleat::cluster
