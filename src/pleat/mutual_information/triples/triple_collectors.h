// Triple collectors: the best triples, all above a threshold, or a set of bits, collected tile by
// tile.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/files/npy.h"
#include "pleat/core/view.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/count/tiles.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

/// Position of the triple i < j < k in the lexicographic list of all triples of `columns`.
constexpr Index triple_index(Index i, Index j, Index k, Index columns) {
    return triple_count(columns) - triple_count(columns - i) +
           pair_index(j - i - 1, k - i - 1, columns - i - 1);
}

/// The layout of collected records: the number of columns, the names of the statistics, and the
/// statistic by which triples are kept.
struct RecordLayout {
    Index columns = 0;
    std::vector<std::string> names;  ///< [number]
    int key = 0;                     ///< the number that decides
};

/// Collects triples with their numbers. The content does not depend on the order of tiles, of
/// merging and of resuming; each triple is to be added once. Counts of shuffles are exact in
/// doubles. A triple whose deciding number is NaN is left out.
class TripleCollector {
public:
    virtual ~TripleCollector() = default;

    /// Adds a tile's triples; `values` is [number, triple of the tile].
    void put(const TripleTile& tile, View<const double, 2> values);
    virtual Index size() const = 0;
    virtual TripleRecords records() const = 0;

    /// For merge() on another rank.
    std::vector<std::uint8_t> bytes() const;
    /// Adds the records of another collector.
    void merge(std::span<const std::uint8_t> bytes);
    /// Writes arrays whose names begin with `prefix`; equal content gives equal bytes.
    void save(NpzWriter& file, std::string_view prefix) const;
    /// Adds the records written by save(). Throws InputError if columns, statistics or the rule
    /// differ.
    void load(const NpzReader& file, std::string_view prefix);

protected:
    /// `rule`: which triples are kept, for the description in files.
    TripleCollector(RecordLayout layout, std::string rule);

    Index width() const { return static_cast<Index>(layout_.names.size()); }
    const std::string& key_name() const { return layout_.names.at(layout_.key); }
    /// The deciding statistic of a triple whose statistics are `stride` apart.
    double key_of(const double* numbers, Index stride) const {
        return numbers[layout_.key * stride];
    }
    virtual void add(Index triple, const double* numbers, Index stride) = 0;

    /// put() skips triples with a smaller deciding statistic.
    double min_key_ = -std::numeric_limits<double>::infinity();

private:
    void add_all(const TripleRecords& records);

    RecordLayout layout_;
    std::string description_;  ///< what another rank or a file must have collected too
};

/// The K triples with the largest value of one statistic, largest first; ties in lexicographic
/// order. Takes (32 + 8 * statistics) K bytes.
class BestTriples final : public TripleCollector {
public:
    /// Throws UsageError if `count`, which is K, is negative.
    BestTriples(RecordLayout layout, Index count);

    Index size() const override { return static_cast<Index>(heap_.size()); }
    /// Best first.
    TripleRecords records() const override;

private:
    struct Entry {
        double key;
        Index triple;
        Index row;  ///< of its numbers
    };
    /// Orders entries, also in the heap, whose front is the worst entry.
    static bool is_better(const Entry& a, const Entry& b) {
        return a.key > b.key || (a.key == b.key && a.triple < b.triple);
    }
    void add(Index triple, const double* numbers, Index stride) override;

    Index max_size_;
    std::vector<Entry> heap_;
    std::vector<double> values_;  ///< [row, number]
};

/// All triples whose deciding statistic is at least a threshold. If there are more than `max_size`,
/// throws a UsageError that does not depend on the order of tiles.
class TriplesAbove final : public TripleCollector {
public:
    TriplesAbove(RecordLayout layout, double threshold, Index max_size);

    /// Reserves memory for this many, so that the lists are not copied as they grow.
    void reserve(Index count);
    Index size() const override { return static_cast<Index>(triples_.size()); }
    /// In lexicographic order.
    TripleRecords records() const override;

private:
    void add(Index triple, const double* numbers, Index stride) override;

    double threshold_;
    Index max_size_;
    std::vector<Index> triples_;
    std::vector<double> values_;  ///< [record, number]
};

/// Two exact Z count as equal if they differ by less than this fraction of the pair's |Z| (or of
/// 1): a triple with a one-symbol column has the Z of its pair, but with different rounding.
inline constexpr double kZTolerance = 1e-6;

/// A set of triples i < j < k of L columns: L (L-1) (L-2) / 6 bits, indexed by triple_index(), 21
/// MB for L = 1000. Bits are never cleared, so tiles may be added in any order and repeatedly.
class CliqueSet {
public:
    explicit CliqueSet(Index columns);

    /// C as Waechter et al. define it: max(c_ij, c_ik, c_jk) <= c_ijk, c the fraction of shuffles
    /// with MI strictly below the observed. All are of the same number of shuffles, so the counts
    /// n_less are compared: `pair_less` [pair] in lexicographic order, `triple_less` [triple of the
    /// tile]. Three columns of one symbol each are a member: 0 <= 0.
    void add_percentiles(const TripleTile& tile, std::span<const std::uint32_t> pair_less,
                         std::span<const std::uint32_t> triple_less);

    /// Adds the triples of C by exact Z: max(Z_ij, Z_ik, Z_jk) <= Z_ijk, up to kZTolerance. A pair
    /// with Z = NaN (constant null distribution) counts as -infinity; a triple with Z = NaN is no
    /// member.
    void add_z(const TripleTile& tile, std::span<const double> pair_z,
               std::span<const double> triple_z);

    /// Bit t % 64 of word t / 64 is the triple with triple_index() t.
    const std::vector<std::uint64_t>& words() const { return words_; }
    /// The set, counted.
    TripleSet result() &&;

    /// For merge() on another rank.
    std::vector<std::uint8_t> bytes() const;
    /// Adds the members of another set.
    void merge(std::span<const std::uint8_t> bytes);
    void save(NpzWriter& file, std::string_view name) const;
    /// Adds the members that save() wrote. Throws InputError if the number of columns differs.
    void load(const NpzReader& file, std::string_view name);

private:
    bool has(Index triple) const { return words_[triple / 64] >> (triple % 64) & 1; }
    void set(Index triple) { words_[triple / 64] |= std::uint64_t{1} << (triple % 64); }
    void merge_words(const std::uint64_t* words);

    Index columns_;
    std::vector<std::uint64_t> words_;
};

}  // namespace pleat::mutual_information
