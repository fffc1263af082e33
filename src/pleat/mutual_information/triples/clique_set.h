// Clique set: the triples that belong together by the paper's rule, one bit each.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "pleat/core/files/npy.h"
#include "pleat/mutual_information/triples/tiles.h"

#pragma GCC visibility push(default)

namespace pleat::mutual_information {

/// Two exact Z that differ by less than this part of the pair's |Z| (or of 1) count as equal: a
/// triple with a column of one symbol has the very Z of its pair, computed along another way.
inline constexpr double kZTolerance = 1e-6;

/// A set of triples i < j < k of L columns: bit triple_index() of L (L-1) (L-2) / 6, 21 MB for
/// L = 1000. Bits are only ever set, so tiles may come in any order, and twice.
class CliqueSet {
public:
    explicit CliqueSet(Index columns);

    /// C as Waechter et al. define it: max(c_ij, c_ik, c_jk) <= c_ijk, c the fraction of shuffles
    /// with MI strictly below the observed. All are of the same number of shuffles, so the counts
    /// n_less are compared: `pair_less` [pair] in lexicographic order, `triple_less` [triple of the
    /// tile]. Three columns of one symbol each are a member: 0 <= 0. Where most c are 1 so are most
    /// triples.
    void put_percentiles(const TripleTile& tile, std::span<const std::uint32_t> pair_less,
                         std::span<const std::uint32_t> triple_less);

    /// C by exact Z: max(Z_ij, Z_ik, Z_jk) <= Z_ijk, up to kZTolerance. A pair whose Z is NaN (its
    /// null is constant) counts as -infinity; a triple whose Z is NaN is no member.
    void put_z(const TripleTile& tile, std::span<const double> pair_z,
               std::span<const double> triple_z);

    bool has(Index i, Index j, Index k) const;
    Index size() const;                     ///< members
    std::vector<Index> membership() const;  ///< members that each column is in, [column]
    Index column_count() const { return columns_; }
    /// Bit t % 64 of word t / 64 is the triple with triple_index() t.
    const std::vector<std::uint64_t>& words() const { return words_; }

    /// The union.
    void merge(const CliqueSet& other);
    std::vector<std::uint8_t> bytes() const;
    void merge(std::span<const std::uint8_t> bytes);
    void save(NpzWriter& file, std::string_view name) const;
    /// Merges what save() wrote. InputError where that was of another number of columns.
    void load(const NpzReader& file, std::string_view name);

private:
    bool has(Index triple) const { return words_[triple / 64] >> (triple % 64) & 1; }
    void set(Index triple) { words_[triple / 64] |= std::uint64_t{1} << (triple % 64); }
    void merge_words(const std::uint64_t* words);

    Index columns_;
    std::vector<std::uint64_t> words_;
};

}  // namespace pleat::mutual_information

#pragma GCC visibility pop
