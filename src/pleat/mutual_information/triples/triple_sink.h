// Triple sink: collectors of triples that are fed tile by tile and never hold all of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/files/npy.h"
#include "pleat/core/view.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/triples/tiles.h"

#pragma GCC visibility push(default)

namespace pleat::mutual_information {

/// Place of the triple i < j < k in the lexicographic list of all triples of `columns`.
constexpr Index triple_index(Index i, Index j, Index k, Index columns) {
    return triple_count(columns) - triple_count(columns - i) +
           pair_index(j - i - 1, k - i - 1, columns - i - 1);
}

/// The triple at a place of that list.
std::array<Index, 3> triple_at(Index index, Index columns);

/// Triples with the numbers that belong to each.
struct TripleRecords {
    std::vector<Index> triples;  ///< triple_index, [record]
    Array<double, 2> numbers;    ///< [record, number]
};

/// What the two collectors of records share: the columns, what the numbers are called, and which of
/// them decides. Every collector here gives the same result whatever the order of tiles, of merging
/// and of resuming; each triple is to be fed once. Numbers are doubles: counts of shuffles are
/// exact in them. A triple whose deciding number is NaN is left out.
struct TripleNumbers {
    Index columns = 0;
    std::vector<std::string> names;  ///< [number]
    int key = 0;                     ///< the number that decides
};

/// The best K triples by one number: largest first, of equal ones the lexicographically first.
/// Takes (32 + 8 numbers) K bytes. (To keep the least, feed the negative.)
class BestTriples {
public:
    BestTriples(TripleNumbers numbers, Index most);

    /// Takes a tile; `values` is [number, triple of the tile].
    void put(const TripleTile& tile, View<const double, 2> values);
    void merge(const BestTriples& other);
    Index size() const { return static_cast<Index>(heap_.size()); }
    /// Best first.
    TripleRecords records() const;

    /// What merge() of these bytes on another rank adds, the best first.
    std::vector<std::uint8_t> bytes() const;
    void merge(std::span<const std::uint8_t> bytes);
    /// Writes arrays whose names begin with `prefix`, the same bytes for the same content.
    void save(NpzWriter& file, std::string_view prefix) const;
    /// Merges what save() wrote. InputError where that was of other columns, numbers or K.
    void load(const NpzReader& file, std::string_view prefix);

private:
    struct Entry {
        double key;
        Index triple;
        Index place;  ///< of its numbers
    };
    /// Also the order of the heap: its front is the worst entry.
    static bool is_better(const Entry& a, const Entry& b) {
        return a.key > b.key || (a.key == b.key && a.triple < b.triple);
    }
    void offer(Index triple, const double* numbers, Index stride);

    TripleNumbers numbers_;
    Index most_;
    std::vector<Entry> heap_;
    std::vector<double> values_;  ///< [place, number]
};

/// All triples whose number is at least a threshold. When there are more than `most`, UsageError
/// says what to do; whether it does depends on no order.
class TriplesOver {
public:
    TriplesOver(TripleNumbers numbers, double threshold, Index most);

    /// Makes room for so many, so that the lists are not copied as they grow.
    void reserve(Index count);
    void put(const TripleTile& tile, View<const double, 2> values);
    void merge(const TriplesOver& other);
    Index size() const { return static_cast<Index>(triples_.size()); }
    /// In lexicographic order.
    TripleRecords records() const;

    std::vector<std::uint8_t> bytes() const;
    void merge(std::span<const std::uint8_t> bytes);
    void save(NpzWriter& file, std::string_view prefix) const;
    void load(const NpzReader& file, std::string_view prefix);

private:
    void add(Index triple, const double* numbers, Index stride);

    TripleNumbers numbers_;
    double threshold_;
    Index most_;
    std::vector<Index> triples_;
    std::vector<double> values_;  ///< [record, number]
};

}  // namespace pleat::mutual_information

#pragma GCC visibility pop
