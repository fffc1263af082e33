// Nearest lists: the nearest others of each item, gathered in one pass over all pairs.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "pleat/core/loops/sweep.h"

namespace pleat {

class AdditiveCheckpoint;
class NpzReader;
class NpzWriter;

/// An item near another one.
struct NearItem {
    float distance = 0;
    std::int32_t item = 0;

    /// Nearer; of equally near ones the earlier.
    bool operator<(const NearItem& other) const {
        return distance != other.distance ? distance < other.distance : item < other.item;
    }
};

/// Gathers the nearest others of each item from bands in any order and on any ranks.
class NearestLists {
public:
    NearestLists() = default;
    /// The `nearest` nearest of each of `items` items among all others.
    NearestLists(Index items, Index nearest);
    /// The same among `others` items of another set.
    NearestLists(Index items, Index nearest, Index others);

    /// How many others the list of an item has.
    Index length() const { return length_; }
    /// Makes the lists part of what `sums` saves, and adds up over ranks; must outlive `sums`.
    void join(AdditiveCheckpoint& sums);
    /// Adds `sign` times the values of `rows` with all later items, in condensed order; or, of two
    /// sets, [row, other]. A sign of -1 makes the largest scores the nearest.
    void add(Block rows, const float* values, int threads, float sign = 1.0f);
    /// Sorts each list, once all values were added.
    void sort(int threads);
    /// The list of an item: a heap with the farthest on top until it is sorted. Places that are not
    /// filled have the item INT32_MAX.
    std::span<const NearItem> of(Index item) const {
        return std::span(lists_).subspan(static_cast<std::size_t>(item * length_),
                                         static_cast<std::size_t>(length_));
    }
    /// All lists, [item, length()].
    std::span<NearItem> all() { return lists_; }

    // The functions of a Collector (core/loops/additive_checkpoint.h).
    void save(NpzWriter& file, std::string_view name) const;
    void load(const NpzReader& file, std::string_view name);
    std::vector<std::uint8_t> bytes() const;
    void merge(std::span<const std::uint8_t> bytes);

private:
    void offer(Index item, const NearItem& other);

    Index items_ = 0, length_ = 0, others_ = 0;
    bool has_two_sets_ = false;
    std::vector<NearItem> lists_;
};

}  // namespace pleat
