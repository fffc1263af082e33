// Base pairs of a nucleic acid: given ones or those that scores show, and the class of other pairs.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/alignment/bracket_notation.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/array.h"
#include "pleat/couplings/contacts/calibration.h"

namespace pleat::couplings {

/// Nested base pairs of fitted columns, i < j.
struct BasePairs {
    std::vector<std::pair<Index, Index>> pairs;
    bool is_given = false;  ///< by a secondary structure; false: found by find_base_pairs()
};

/// The nested pairs of a secondary structure with a mark per column of the source or per residue of
/// the reference row; pairs with a column that was left out are dropped. Throws InputError for
/// another number of marks.
BasePairs given_base_pairs(const SecondaryStructure& structure, const Alignment& alignment,
                           const ReferenceRow& reference);

/// Pairs at least 5 columns apart with Z >= 3, a stacked neighbour with Z >= 2 (see stacked_z())
/// and letters that pair (AU, GC, GU) in 0.7 of the weight of sequences with both residues. Each
/// column is in one pair, that of the highest Z. README.md says how many of them are right.
BasePairs find_base_pairs(const Alignment& alignment, const std::vector<double>& weights,
                          View<const double, 2> corrected, const ScoreScale& scale);

/// The greater Z of the pairs (i - 1, j + 1) and (i + 1, j - 1), which a helix would contain too.
double stacked_z(View<const double, 2> corrected, const ScoreScale& scale, Index i, Index j);

/// What a pair of columns is beside base pairs. helix: one of them; beside: both columns are within
/// 2 of one; tertiary: neither, and all base pairs are given; unknown: neither, and they were
/// found.
enum class PairClass : std::uint8_t { unknown, helix, beside, tertiary };
std::span<const std::string_view> names_of(PairClass);
/// "NA", "helix", "beside", "tertiary".
std::string_view name_of(PairClass);

/// The class of every pair of `columns` columns: [column, column], symmetric.
Array<PairClass, 2> pair_classes(const BasePairs& base_pairs, Index columns);

}  // namespace pleat::couplings
