// Weighted: mutual information of pairs with sequence weights and pseudocounts, and its sampled
// null.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/count/pair_rows.h"
#include "pleat/mutual_information/pairs/pair_statistics.h"

namespace pleat::mutual_information {

/// How rows become counts, as in Buslje, Santos, Delfino, Nielsen, Bioinformatics 25:1125 (2009),
/// who use weights of 1 / cluster size, lambda = 0.05 and leave gaps out:
///     N_ab = lambda + sum of the weights of the rows with a in column i and b in column j,
///     p_ab = N_ab / sum N,   p_a = sum over b of p_ab,   p_b = sum over a of p_ab,
/// a and b over all `symbols` letters of the alphabet (omitted ones not counted), also those that
/// occur in no row. Weights count as they are: scaling them changes what lambda means.
struct WeightedOptions {
    std::span<const double> weights = {};  ///< [row], at least 0; empty: 1 each
    double pseudocount = 0;                ///< lambda, rows a cell of the symbols x symbols table
    int symbols = 22;                      ///< letters that may occur; matters with lambda > 0 only
    LetterSet omitted = 0;  ///< rows with such a letter in either column are left out for the pair
};

/// Of every pair i < j in lexicographic order, [pair].
struct WeightedPairs {
    std::vector<double> mi, joint_entropy;  ///< bits; 0 where no row or pseudocount is left
    std::vector<double> weight;             ///< of the rows kept, without pseudocounts
};

/// MI = H_i + H_j - H_ij of p_ab, in float64: its rounding errors are about 1e-15 bits times the
/// number of cells. The same bits for any number of threads. Throws UsageError.
WeightedPairs weighted_pairs(const Columns& columns, const WeightedOptions& options,
                             const Context& context);

/// Two MI that differ by no more count as equal, bits.
inline constexpr double kEqualInformation = 1e-10;

struct WeightedNull {
    std::vector<SampledNull> sampled;        ///< [pair]
    std::vector<std::uint32_t> less, equal;  ///< [pair]: shuffles with less, and with equal MI
};

/// The same statistic of the columns' symbols permuted by shuffle_column() with `context.seed`, for
/// shuffles 0 ... shuffles - 1, while the weights stay with the rows. Where letters are omitted,
/// the symbols of a pair's remaining rows are permuted among those rows, so that every shuffle has
/// as many rows as the observation. Exact moments are not known for weighted counts. Each pair adds
/// up its shuffles in their order: the same bits for any number of threads. Without weights and
/// pseudocounts it agrees with Kernel::sample_pairs(). Takes about a microsecond a pair and shuffle
/// at 753 rows. `observed` [pair] is WeightedPairs::mi. Stage "weighted shuffles" of the progress.
/// Throws UsageError, Cancelled.
WeightedNull weighted_null(const Columns& columns, const WeightedOptions& options,
                           std::span<const double> observed, std::int64_t shuffles,
                           const Context& context);

}  // namespace pleat::mutual_information
