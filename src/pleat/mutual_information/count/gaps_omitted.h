// Gaps omitted: pairs counted over the rows in which neither column has an omitted letter.
#pragma once

#include <vector>

#include "pleat/core/context.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/count/pair_rows.h"
#include "pleat/mutual_information/count/statistic.h"

namespace pleat::mutual_information {

/// Of every pair i < j in lexicographic order, [pair], over its own rows: N_ij of them. The smaller
/// N_ij, the larger MI is by chance alone: compare pairs by Z.
struct OmittedPairs {
    std::vector<Index> rows;                ///< N_ij
    std::vector<double> mi, joint_entropy;  ///< bits, as pair_information(); 0 where N_ij = 0
    /// Exact, over all permutations of the two columns' remaining letters among the N_ij rows
    /// (pair_moments() of their margins); 0 where a column has one symbol left, or none.
    std::vector<double> mean, variance;
};

/// `statistic` is that of all rows. The same bits for any number of threads. Stage "gaps omitted"
/// of the progress. Throws Cancelled.
OmittedPairs pairs_without(const Columns& columns, const Statistic& statistic, LetterSet omitted,
                           const Context& context);

}  // namespace pleat::mutual_information
