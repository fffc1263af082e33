// Independent model: fields alone, fitted to the frequencies of each column.
#pragma once

#include "pleat/core/array.h"

namespace pleat::mutants {

/// Frequencies of the residues, [column, letter without the gap], which sum to 1 in each column
/// that has residues; from frequencies that may include the gap as the last of `letters` letters.
Array<double, 2> residue_frequencies(View<const double, 2> frequencies, Index residues);

/// Fields h, [column, letter], that minimise N (log sum of exp h(a) - sum of f(a) h(a)) + lambda
/// sum of h(a)^2 in each column: the independent model of EVcouplings (Hopf et al. 2017). N is the
/// number of effective sequences, lambda 0.01. Newton steps from 0 to a gradient below 1e-10 N. A
/// column without residues gets 0.
Array<double, 2> independent_fields(View<const double, 2> frequencies, double effective_sequences,
                                    double lambda = 0.01);

}  // namespace pleat::mutants
