// Gap-free pairs: pairs counted over the rows in which neither column has an omitted letter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/count/statistic.h"

namespace pleat::mutual_information {

/// A set of letters: bit a is the letter with code a in the alignment.
using LetterSet = std::uint32_t;

constexpr LetterSet letter_set(std::uint8_t letter) { return LetterSet{1} << letter; }

/// Two columns without the rows in which either has an omitted letter (pairwise deletion). Codes
/// are those of the symbols left, in the order of the columns' own codes.
struct PairRows {
    std::vector<std::uint8_t> code_i, code_j;  ///< [row kept]
    std::vector<Index> row;                    ///< [row kept]: its number in the alignment
    std::vector<Index> margin_i, margin_j;     ///< [symbol]: rows kept, at least 1

    /// Replaces the content; reuses its memory.
    void select_rows(const Columns& columns, Index i, Index j, LetterSet omitted);
    Index count() const { return static_cast<Index>(row.size()); }
};

/// For every pair i < j in lexicographic order, [pair], the numbers of its own rows, N_ij of them.
/// The smaller N_ij, the larger MI is by chance alone: compare pairs by Z.
struct GapFreePairs {
    std::vector<Index> rows;                ///< N_ij
    std::vector<double> mi, joint_entropy;  ///< bits, as pair_information(); 0 if N_ij = 0
    /// Exact, over all permutations of the two columns' remaining letters among the N_ij rows
    /// (pair_moments() of their margins); 0 if a column has at most one symbol left.
    std::vector<double> mean, variance;
};

/// Computes all pairs. `statistic` is that of all rows. The same bits for any number of threads and
/// ranks. Stage "gaps omitted" of the progress; resumes from, and saves to, context.checkpoint, for
/// the problem with this hash. Throws Cancelled.
GapFreePairs gap_free_pairs(const Columns& columns, const Statistic& statistic, LetterSet omitted,
                            const Context& context, const std::string& problem_hash = {});

}  // namespace pleat::mutual_information
