// Calibration: from a pair's score to the probability that its residues are in contact.
#pragma once

#include <string>
#include <vector>

#include "pleat/core/view.h"

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

/// The same over the pairs of one column of part a with one of part b, at any separation if these
/// differ. `part_of_column`: see parts_of_columns().
ScoreScale score_scale(View<const double, 2> scores, const std::vector<Index>& columns,
                       const std::vector<Index>& part_of_column, Index a, Index b);

/// Probability that two residues of a protein have their CB atoms (CA of glycine) within 8
/// angstrom, for a pair with |i - j| >= 6:
///
///     1 / (1 + exp(-(b0 + b1 s + b2 ln L))),    s = Z / sqrt(1 + (Z / 6)^2)
///
/// L is the number of columns (the fraction of contacts falls with it), limited to the range from
/// 50 to 500 of the families to which scripts/calibrate_probability.py fitted the constants.
/// README.md describes the data and the error in cross-validation by family. Increases with Z.
double contact_probability(double z, Index columns);

/// What the probability of a contact of a nucleic acid depends on besides the score.
struct RnaFamily {
    Index columns = 0;
    double effective_sequences = 0;
};

/// Probability that two residues of an RNA have atoms other than hydrogen within 8 angstrom, for a
/// pair with |i - j| >= 5 and scores whose norm has the gap (NormLetters::all):
///
///     1 / (1 + exp(-(2.521 + 0.596 s - 1.151 ln L + 0.014 n + 0.155 s n + 0.496 t)))
///
/// with s as for proteins, t the same of the Z of the stacked neighbour (stacked_z()), L the number
/// of columns and n = ln(effective sequences / L), both limited to the range of the 56 families to
/// which the constants were fitted. README.md describes the error in cross-validation.
double rna_contact_probability(double z, double stacked_z, const RnaFamily& family);

/// The same of a pair that is tertiary beside given base pairs (PairClass::tertiary):
///
///     1 / (1 + exp(-(1.512 + 0.566 s - 1.032 ln L + 0.013 n + 0.135 s n))),  0.8 at most,
///
/// since of the few pairs above that few were contacts.
double tertiary_contact_probability(double z, const RnaFamily& family);

/// Protein families with fewer effective sequences have no probabilities; see depth_warning().
constexpr double kMinEffectiveSequences = 20;

/// A warning that the probabilities of a family with few effective sequences are too high or
/// missing; empty from 500 effective sequences on, of nucleic acids, whose probabilities depend on
/// their number, from 20 on. README.md has the measurement behind it.
std::string depth_warning(double effective_sequences, bool is_nucleic = false);

}  // namespace pleat::couplings
