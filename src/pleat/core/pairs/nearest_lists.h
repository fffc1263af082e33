// Nearest lists: the nearest others of each item, gathered in one pass over all pairs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/loops/sweep.h"

namespace pleat {

class AdditiveCheckpoint;
class NpzReader;
class NpzWriter;

struct NearItem {
    float distance = 0;
    std::int32_t item = 0;

    /// Compares by value; if equal, by item number.
    bool operator<(const NearItem& other) const {
        return distance != other.distance ? distance < other.distance : item < other.item;
    }
};

/// Gathers the nearest others of each item from bands in any order and on any ranks.
class NearestLists {
public:
    NearestLists() = default;
    /// The `nearest` nearest of each of `count` items among all others.
    NearestLists(Index count, Index nearest)
        : NearestLists(count, std::min(nearest, count - 1), count, false) {}
    /// Finds the nearest among `others` items of another set.
    NearestLists(Index count, Index nearest, Index others)
        : NearestLists(count, std::min(nearest, others), others, true) {}

    /// How many others the list of an item has.
    Index length() const { return items.extent(1); }
    /// Registers the lists with `sums`, which saves and adds them up; must outlive `sums`.
    void join(AdditiveCheckpoint& sums);
    /// Adds `sign` times the values of `rows` with all later items, in condensed order; or, of two
    /// sets, [row, other]. A sign of -1 makes the largest scores the nearest.
    void add(Block rows, const float* values, int threads, float sign = 1.0f);
    /// Sorts each list, once all values were added.
    void sort(int threads);

    /// [item, rank]: each list is a heap with the farthest on top until it is sorted. Places that
    /// are not filled have the item INT32_MAX.
    Array<std::int32_t, 2> items;
    Array<float, 2> distances;

    // The functions of a Collector (core/loops/additive_checkpoint.h).
    void save(NpzWriter& file, std::string_view name) const;
    void load(const NpzReader& file, std::string_view name);
    std::vector<std::uint8_t> bytes() const;
    void merge(std::span<const std::uint8_t> bytes);

private:
    NearestLists(Index count, Index length, Index others, bool has_two_sets);
    /// Puts `other` in the place of the farthest of the first `length` of an item's list.
    void replace_farthest(Index item, Index length, const NearItem& other);
    void offer(Index item, const NearItem& other);
    /// Offers other lists of the same shape, one behind another. Throws InputError.
    void offer_all(std::span<const std::int32_t> others, std::span<const float> values);

    Index others_ = 0;
    bool has_two_sets_ = false;
};

}  // namespace pleat
