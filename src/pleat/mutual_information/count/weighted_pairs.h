// Weighted pairs: mutual information of pairs with sequence weights and pseudocounts, and its
// sampled null model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

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
WeightedPairs weighted_pairs(const Columns& columns, const WeightedOptions& options,
                             const Context& context, const std::string& problem_hash = {});

}  // namespace pleat::mutual_information
