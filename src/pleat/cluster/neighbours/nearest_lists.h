// Nearest lists: the nearest others of each item, gathered in one pass over all pairs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "pleat/core/pairs/pair_source.h"

namespace pleat {
class AdditiveCheckpoint;
class NpzReader;
class NpzWriter;
}  // namespace pleat

namespace pleat::cluster {

/// An item near another one.
struct NearItem {
    float distance = 0;
    std::int32_t item = 0;

    /// Nearer; of equally near ones the earlier.
    bool operator<(const NearItem& other) const {
        return distance != other.distance ? distance < other.distance : item < other.item;
    }
};

/// Items in compressed rows, each ascending.
struct ItemLists {
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> items;

    Index count() const { return static_cast<Index>(starts.size()) - 1; }
    std::span<const std::int32_t> of(Index item) const {
        const auto first = static_cast<std::size_t>(starts[item]);
        return std::span(items).subspan(first, static_cast<std::size_t>(starts[item + 1]) - first);
    }
};

/// Gathers the `nearest` nearest others of each of `items` items from bands in any order and on any
/// ranks. Throws DeviceError if memory is too small.
class NearestLists {
public:
    NearestLists(Index items, Index nearest, const Context& context);
    /// Makes the lists part of what `sums` saves, and adds up over ranks.
    void join(AdditiveCheckpoint& sums);
    /// Adds the pairs of `rows` with all later items, in condensed order.
    void add(Block rows, const float* distances);
    /// Gives every rank the lists of all pairs. A collective call.
    void share();
    /// The items of each list; with a cutoff those below it, decided by PairSource::is_below() near
    /// it.
    ItemLists below(const PairSource& distances, std::optional<double> cutoff) const;

    // The functions of a Collector (core/loops/additive_checkpoint.h).
    void save(NpzWriter& file, std::string_view name) const;
    void load(const NpzReader& file, std::string_view name);
    std::vector<std::uint8_t> bytes() const;
    void merge(std::span<const std::uint8_t> bytes);

private:
    void offer(Index item, const NearItem& other);

    Context context_;
    Index items_, nearest_;
    std::vector<NearItem> lists_;  ///< [item, nearest_], each a heap with the farthest on top
};

}  // namespace pleat::cluster
