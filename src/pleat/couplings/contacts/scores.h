// Scores: one number per pair of columns from its couplings.
#pragma once

#include "pleat/core/array.h"
#include "pleat/couplings/couplings.h"

namespace pleat::couplings {

/// Frobenius norm of one pair's couplings [letter, letter], see frobenius_scores().
double centred_norm(View<const float, 2> block);

/// Frobenius norm of one pair's couplings over all letters in the zero-sum gauge: from each number
/// the means of its row and column are subtracted, and the overall mean is added.
double zero_sum_norm(View<const float, 2> block);

/// Frobenius norm of each pair's couplings, L x L, symmetric, diagonal 0. NormLetters::residues:
/// over letters without the gap, after subtracting the mean of the whole q x q block (as CCMpred's
/// program does; the paper, Seemayer et al. 2014, does not mention it). all: zero_sum_norm().
Array<double, 2> frobenius_scores(const Model& model, int threads,
                                  NormLetters letters = NormLetters::residues);

/// Average product correction (Dunn et al. 2008): s_ij - mean_i mean_j / mean, with means over all
/// L or L^2 entries, the zero diagonal included. Then all values are shifted so that the minimum
/// off the diagonal is 0, and the diagonal is set to 0.
Array<double, 2> average_product_correction(View<const double, 2> scores, int threads = 1);

}  // namespace pleat::couplings
