// Independent: a model of independent columns, and the profile by which sequences are aligned to
// columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/bio/alignment/pairwise.h"
#include "pleat/core/array.h"
#include "pleat/couplings/files/model_file.h"

namespace pleat::mutants {

/// Log odds of the letters in each column, in 1/100 bits: log2 of (n f(a) + 5 b(a)) / ((n + 5)
/// b(a)), where n f(a) is the weight of the family's sequences with letter a and b its frequency
/// in all columns. A gap costs 8 bits, and 1 for each further letter.
ProfileScoring family_profile(const couplings::ModelDescription& about);

/// For each residue of a sequence (codes; the gap's code for unknown residues) the column to which
/// it is aligned, or -1. End gaps are free.
std::vector<Index> profile_columns(const ProfileScoring& profile,
                                   std::span<const std::uint8_t> sequence);

/// [column, letter without the gap]: frequencies of residues, with sum 1 in each column that has
/// residues; `frequencies` may include the gap as the last letter.
Array<double, 2> residue_frequencies(View<const double, 2> frequencies, Index residues);

/// Fields h, [column, letter], that minimise N (log sum of exp h(a) - sum of f(a) h(a)) + lambda
/// sum of h(a)^2 in each column: the independent model of EVcouplings (Hopf et al. 2017). N is the
/// number of effective sequences, lambda 0.01. Newton steps from 0 to a gradient below 1e-10 N. A
/// column without residues gets 0.
Array<double, 2> independent_fields(View<const double, 2> frequencies, double effective_sequences,
                                    double lambda = 0.01);

}  // namespace pleat::mutants
