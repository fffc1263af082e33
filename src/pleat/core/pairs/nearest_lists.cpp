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

NearestLists::NearestLists(Index items, Index nearest) : NearestLists(items, nearest, items) {
    has_two_sets_ = false;
    length_ = std::min(nearest, items - 1);
    lists_.resize(static_cast<std::size_t>(items_ * length_));
}

NearestLists::NearestLists(Index items, Index nearest, Index others)
    : items_(items), length_(std::min(nearest, others)), others_(others), has_two_sets_(true) {
    static_assert(sizeof(NearItem) == 8);
    lists_.assign(
        static_cast<std::size_t>(items_ * length_),
        {std::numeric_limits<float>::infinity(), std::numeric_limits<std::int32_t>::max()});
}

void NearestLists::join(AdditiveCheckpoint& sums) { sums.collect("nearest", *this); }

void NearestLists::offer(Index item, const NearItem& other) {
    NearItem* const first = lists_.data() + item * length_;
    if (length_ == 0 || !(other < *first)) return;
    std::pop_heap(first, first + length_);
    first[length_ - 1] = other;
    std::push_heap(first, first + length_);
}

void NearestLists::add(Block rows, const float* values, int threads, float sign) {
    constexpr Index kColumns = 512;
    const Index end = std::min(rows.first + rows.count, items_);
    const auto row = [&](Index i) {  // by the number of the other item
        return has_two_sets_
                   ? values + (i - rows.first) * others_
                   : values + pairs_before(i, items_) - pairs_before(rows.first, items_) - i - 1;
    };
    parallel_for(threads, end - rows.first, [&](Index n, int) {
        const Index i = rows.first + n;
        const float* const own = row(i);
        for (Index j = has_two_sets_ ? 0 : i + 1; j < others_; ++j)
            offer(i, {sign * own[j], static_cast<std::int32_t>(j)});
    });
    if (has_two_sets_) return;
    parallel_for(threads, (items_ + kColumns - 1) / kColumns, [&](Index block, int) {
        const Index last = std::min(items_, (block + 1) * kColumns);
        for (Index i = rows.first; i < std::min(end, last); ++i) {
            const float* const own = row(i);
            for (Index j = std::max(block * kColumns, i + 1); j < last; ++j)
                offer(j, {sign * own[j], static_cast<std::int32_t>(i)});
        }
    });
}

void NearestLists::sort(int threads) {
    parallel_for(threads, length_ == 0 ? 0 : items_, [&](Index item, int) {
        NearItem* const first = lists_.data() + item * length_;
        std::sort_heap(first, first + length_);
    });
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
    std::vector<NearItem> more(lists_.size());
    if (bytes.size() != more.size() * sizeof(NearItem))
        throw InputError(fmt::format("expected {} nearest of all items, found {} bytes",
                                     more.size(), bytes.size()));
    if (!bytes.empty()) std::memcpy(more.data(), bytes.data(), bytes.size());
    for (std::size_t n = 0; n < more.size(); ++n) {
        const bool is_unused = more[n].item == std::numeric_limits<std::int32_t>::max();
        if (!is_unused && (more[n].item < 0 || more[n].item >= others_))
            throw InputError(
                fmt::format("expected items below {}, found {}", others_, more[n].item));
        offer(static_cast<Index>(n) / length_, more[n]);
    }
}

}  // namespace pleat
