// Clique set: the triples that satisfy the paper's rule, one bit each.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "pleat/core/files/npy.h"
#include "pleat/mutual_information/mutual_information.h"
#include "pleat/mutual_information/triples/tiles.h"

namespace pleat::mutual_information {

/// Two exact Z that differ by less than this fraction of the pair's |Z| (or of 1) count as equal: a
/// triple with a column of one symbol has the Z of its pair, with other rounding.
inline constexpr double kZTolerance = 1e-6;

/// A set of triples i < j < k of L columns: bit triple_index() of L (L-1) (L-2) / 6, 21 MB for L =
/// 1000. Bits are never cleared, so tiles may be added in any order and more than once.
class CliqueSet {
public:
    explicit CliqueSet(Index columns);

    /// C as Waechter et al. define it: max(c_ij, c_ik, c_jk) <= c_ijk, c the fraction of shuffles
    /// with MI strictly below the observed. All are of the same number of shuffles, so the counts
    /// n_less are compared: `pair_less` [pair] in lexicographic order, `triple_less` [triple of the
    /// tile]. Three columns of one symbol each are a member: 0 <= 0.
    void add_percentiles(const TripleTile& tile, std::span<const std::uint32_t> pair_less,
                         std::span<const std::uint32_t> triple_less);

    /// C by exact Z: max(Z_ij, Z_ik, Z_jk) <= Z_ijk, up to kZTolerance. A pair whose Z is NaN (its
    /// null is constant) counts as -infinity; a triple whose Z is NaN is not a member.
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
