// Calibration: from a pair's score to the probability that its residues are in contact.
#pragma once

#include <string>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::couplings {

/// Mean and standard deviation of the scores that a Z value is measured by: plain ones, over all
/// pairs of columns with |i - j| >= 6 in the source; over all pairs where there are fewer than two
/// such pairs. `columns`: Alignment::columns.
struct ScoreScale {
    double mean = 0, deviation = 0;
    /// (score - mean) / deviation; 0 where all scores are equal.
    double z(double score) const { return deviation > 0 ? (score - mean) / deviation : 0.0; }
};
ScoreScale score_scale(View<const double, 2> scores, const std::vector<Index>& columns);

/// Probability that two residues of a protein have their CB atoms (CA of glycine) within 8
/// angstrom, for a pair with |i - j| >= 6:
///
///     1 / (1 + exp(-(b0 + b1 s + b2 ln L))),    s = Z / sqrt(1 + (Z / 6)^2)
///
/// L is the number of columns (the share of contacts falls with it), taken as 50 below and as 500
/// above: the range of the families that the constants were fitted to by
/// scripts/calibrate_probability.py. README.md states the data and the error that cross-validation
/// by family gave. Rises with Z.
double contact_probability(double z, Index columns);

/// Families of fewer effective sequences have no probabilities: see depth_warning().
constexpr double kMinEffectiveSequences = 20;

/// What the probabilities of a family of so many effective sequences are worth: empty from 500 on.
/// The constants were fitted to deep families, and those cut to fewer sequences have fewer contacts
/// among their strongest pairs than the probabilities promise; README.md has the measurement.
std::string depth_warning(double effective_sequences);

}  // namespace pleat::couplings
