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

/// Probability that two residues of a protein have their CB atoms (CA of glycine) within 8
/// angstrom, for a pair with |i - j| >= 6:
///
///     1 / (1 + exp(-(b0 + b1 s + b2 ln L))),    s = Z / sqrt(1 + (Z / 6)^2)
///
/// L is the number of columns (the fraction of contacts falls with it), limited to the range from
/// 50 to 500 of the families to which scripts/calibrate_probability.py fitted the constants.
/// README.md describes the data and the error in cross-validation by family. Increases with Z.
double contact_probability(double z, Index columns);

/// Families with fewer effective sequences have no probabilities; see depth_warning().
constexpr double kMinEffectiveSequences = 20;

/// A warning that the probabilities of a family with few effective sequences are too high or
/// missing; empty from 500 effective sequences on. README.md has the measurement behind it.
std::string depth_warning(double effective_sequences);

}  // namespace pleat::couplings
