// CPU pairs: pairs that the CPU alone counts: with weights and pseudocounts, and over rows without
// gaps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

/// A set of letters: bit a is the letter with code a in the alignment.
using LetterSet = std::uint32_t;

constexpr LetterSet letter_set(std::uint8_t letter) { return LetterSet{1} << letter; }

/// Two columns without the rows in which either has an omitted letter (pairwise deletion). The
/// remaining symbols keep the order of their codes.
struct PairRows {
    std::vector<std::uint8_t> code_i, code_j;  ///< [row kept]
    std::vector<Index> row;                    ///< [row kept]: its number in the alignment
    std::vector<Index> margin_i, margin_j;     ///< [symbol]: rows kept, at least 1

    /// Replaces the content; reuses its memory.
    void select_rows(const CodedColumns& columns, Index i, Index j, LetterSet omitted);
    Index count() const { return static_cast<Index>(row.size()); }
};

/// [pair], i < j in lexicographic order: statistics from the pair's own N_ij rows. MI by chance is
/// larger for smaller N_ij, so compare pairs by Z.
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
GapFreePairs gap_free_pairs(const CodedColumns& columns, const Statistic& statistic,
                            LetterSet omitted, const Context& context,
                            const std::string& problem_hash = {});

/// How rows become counts, as in Buslje, Santos, Delfino, Nielsen, Bioinformatics 25:1125 (2009),
/// who use weights of 1 / cluster size, lambda = 0.05 and leave gaps out:
///     N_ab = lambda + sum of the weights of the rows with a in column i and b in column j,
///     p_ab = N_ab / sum N,   p_a = sum over b of p_ab,   p_b = sum over a of p_ab,
/// for all `symbols` letters a and b of the alphabet, also those that occur in no row. Scaling the
/// weights changes what lambda means.
struct WeightedOptions {
    std::span<const double> weights = {};  ///< [row], at least 0; empty: 1 each
    double pseudocount = 0;                ///< lambda, rows per cell of the symbols x symbols table
    int symbols = 22;                      ///< letters that may occur; matters only if lambda > 0
    std::int64_t shuffles = 0;             ///< 0: no null model
};

/// [pair] each, i < j in lexicographic order; the last three are empty without shuffles.
struct WeightedPairs {
    std::vector<double> mi, joint_entropy;  ///< bits; 0 without any row or pseudocount
    std::vector<SampledNull> sampled;
    std::vector<std::uint32_t> less_count, equal_count;  ///< shuffles with less, and with equal MI
};

/// Two MI values that differ by at most this (in bits) count as equal.
inline constexpr double kEqualInformation = 1e-10;

/// MI = H_i + H_j - H_ij of p_ab in float64: its rounding error is about 1e-15 bits times the
/// number of cells. The null model permutes the columns' symbols by shuffle_column() with
/// `context.seed`, while the weights stay with the rows; its exact moments are not known. Without
/// weights and pseudocounts it agrees with Kernel::sample_pairs(). Takes about a microsecond per
/// pair and shuffle at 753 rows. Each pair adds up its shuffles in their order: the same bits for
/// any number of threads and ranks. Stage "weighted pairs" of the progress; resumes from, and saves
/// to, context.checkpoint, for the problem with this hash. Throws UsageError, Cancelled.
WeightedPairs weighted_pairs(const CodedColumns& columns, const WeightedOptions& options,
                             const Context& context, const std::string& problem_hash = {});

/// Sets the result's pairs and, with weights, the weights. `problem_hash` is of the input and all
/// options that decide, for the checkpoint. Throws UsageError on a device other than the CPU, and
/// Cancelled.
void run_cpu_pairs(const Alignment& alignment, const CodedColumns& columns,
                   const Parameters& parameters, const std::string& problem_hash,
                   const Context& context, Result& result);

}  // namespace pleat::mutual_information
