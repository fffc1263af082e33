// Contact list: pairs of columns sorted by score, with Z values, probabilities and base pairs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/alignment/bracket_notation.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/array.h"
#include "pleat/core/name_of.h"
#include "pleat/core/view.h"
#include "pleat/couplings/couplings.h"

namespace pleat::couplings {

/// Mean and standard deviation of the scores of all pairs of columns with |i - j| >= 6 in the
/// source, for Z values; of all pairs if there are fewer than two such pairs. `columns`:
/// Alignment::columns.
struct ScoreScale {
    double mean = 0, deviation = 0;
    /// (score - mean) / deviation; 0 if all scores are equal.
    double z(double score) const { return deviation > 0 ? (score - mean) / deviation : 0.0; }
};
ScoreScale score_scale(View<const double, 2> scores, const std::vector<Index>& columns);

/// The same over pairs of one column of part a and one of part b, at any separation if the parts
/// differ. `part_of_column`: see parts_of_columns().
ScoreScale score_scale(View<const double, 2> scores, const std::vector<Index>& columns,
                       const std::vector<Index>& part_of_column, Index a, Index b);

/// Probability that two residues of a protein have their CB atoms (CA of glycine) within 8
/// angstrom, for a pair with |i - j| >= 6:
///
///     1 / (1 + exp(-(b0 + b1 s + b2 ln L))),    s = Z / sqrt(1 + (Z / 6)^2)
///
/// L is the number of columns, limited to 50 to 500, the range of the families to which
/// scripts/calibrate_probability.py fitted the constants; the fraction of contacts decreases with
/// L. README.md describes the data and the error in cross-validation by family. The probability
/// increases with Z.
double contact_probability(double z, Index columns);

/// Properties of a nucleic acid family on which contact probabilities depend, besides the score.
struct RnaFamily {
    Index columns = 0;
    double effective_sequences = 0;
};

/// Probability that two RNA residues have heavy atoms within 8 angstrom, for a pair with |i - j| >=
/// 5 and scores whose norm includes the gap (NormLetters::all):
///
///     1 / (1 + exp(-(2.521 + 0.596 s - 1.151 ln L + 0.014 n + 0.155 s n + 0.496 t)))
///
/// with s as for proteins, t the same of the Z of the stacked neighbour (stacked_z()), L the number
/// of columns and n = ln(effective sequences / L), both limited to the range of the 56 families to
/// which the constants were fitted. README.md describes the error in cross-validation.
double rna_contact_probability(double z, double stacked_z, const RnaFamily& family);

/// The same for a tertiary pair (PairClass::tertiary):
///
///     1 / (1 + exp(-(1.512 + 0.566 s - 1.032 ln L + 0.013 n + 0.135 s n))),  0.8 at most,
///
/// because few of the rare pairs above 0.8 were contacts.
double tertiary_contact_probability(double z, const RnaFamily& family);

/// Protein families with fewer effective sequences have no probabilities; see depth_warning().
constexpr double kMinEffectiveSequences = 20;

/// A warning that the probabilities of a family with few effective sequences are too high or
/// missing; empty from 500 effective sequences on, of nucleic acids, whose probabilities depend on
/// their number, from 20 on. README.md has the measurement behind it.
std::string depth_warning(double effective_sequences, bool is_nucleic = false);

/// Nested base pairs i < j of fitted columns.
struct BasePairs {
    std::vector<std::pair<Index, Index>> pairs;
    bool is_given = false;  ///< by a secondary structure; false: found by find_base_pairs()
};

/// The nested pairs, or all, of a secondary structure with a mark per column of the source or per
/// residue of the reference row; pairs with a column that was left out are dropped. Throws
/// InputError for another number of marks.
BasePairs given_base_pairs(const SecondaryStructure& structure, const Alignment& alignment,
                           const ReferenceRow& reference, bool is_nested = true);

/// Predicts base pairs: pairs at least 5 columns apart with Z >= 3, a stacked neighbour with Z >= 2
/// (see stacked_z()), and letters that pair (AU, GC, GU) in 0.7 of the weight of sequences with
/// both residues. Each column is in at most one pair, the one with the highest Z. README.md gives
/// the fraction of correct pairs.
BasePairs find_base_pairs(const Alignment& alignment, const std::vector<double>& weights,
                          View<const double, 2> corrected, const ScoreScale& scale);

/// The greater Z of the pairs (i - 1, j + 1) and (i + 1, j - 1), which a helix would contain too.
double stacked_z(View<const double, 2> corrected, const ScoreScale& scale, Index i, Index j);

/// Relation of a pair of columns to the base pairs. helix: it is a base pair; beside: both columns
/// are within 2 of one; tertiary: neither, and all base pairs are known; unknown: neither, and the
/// base pairs were predicted.
enum class PairClass : std::uint8_t { unknown, helix, beside, tertiary };
/// "NA", "helix", "beside", "tertiary".
std::span<const std::string_view> names_of(PairClass);

/// The class of every pair of `columns` columns: [column, column], symmetric.
Array<PairClass, 2> pair_classes(const BasePairs& base_pairs, Index columns);

/// A pair of columns i < j of the fitted (filtered) alignment, with its scores.
struct RankedPair {
    Index i = 0, j = 0;
    double raw = 0, corrected = 0;
    double z = 0;  ///< standard deviations above the mean, see score_scale()
    double probability =
        0;  ///< of a contact, see contact_probability(); NaN where has_probabilities() is
            ///< false, for pairs nearer than 6 columns (nucleic acids: 5), and
            ///< for proteins with fewer than kMinEffectiveSequences
    PairClass pair_class = PairClass::unknown;
};

/// Whether scores of fits with these parameters have probabilities: only APC-corrected scores with
/// the alphabet's default norm.
bool has_probabilities(const Parameters& parameters, const Alphabet& alphabet);

/// Which pairs are listed, and how.
struct ListOptions {
    Index min_separation = 6;               ///< in columns of the source
    bool is_calibrated = true;              ///< has_probabilities()
    const BasePairs* base_pairs = nullptr;  ///< null: pairs have no class
    /// parts_of_columns(); empty: one part. Pairs between parts are listed at any separation.
    std::vector<Index> part_of_column = {};
    int threads = 1;
};

/// All pairs at least `min_separation` source columns apart, by descending corrected score; equal
/// scores in row order.
std::vector<RankedPair> rank_pairs(const Alignment& alignment, const Result& result,
                                   const ListOptions& options);

}  // namespace pleat::couplings
