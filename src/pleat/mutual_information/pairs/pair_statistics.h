// Pair statistics: what is reported of pairs and triples once counted and sampled.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/view.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/kernel/null_sums.h"

#pragma GCC visibility push(default)

namespace pleat::mutual_information {

/// MI_ij / H_ij, in [0, 1], [pair]; 0 where H_ij = 0 (Martin, Gloor, Dunn, Wahl, Bioinformatics
/// 21:4116, 2005).
std::vector<double> normalised_information(std::span<const double> mi,
                                           std::span<const double> joint_entropy);

/// MIp of Dunn, Wahl, Gloor, Bioinformatics 24:333 (2008), bits, [pair]:
///     MI_ij - m_i m_j / m  (APC),   m_i = mean of MI_ix over the L - 1 columns x != i,
///                                   m = mean of MI_xy over the L (L - 1) / 2 pairs x < y.
/// The diagonal is in no mean; columns of one symbol are. MI_ij itself where m = 0.
std::vector<double> product_corrected(std::span<const double> mi, Index columns);

/// MIa of the same paper: MI_ij - (m_i + m_j - m) (ASC), with the same means.
std::vector<double> sum_corrected(std::span<const double> mi, Index columns);

/// Whether no arrangement of the columns changes the MI, as far as its exact moments tell: the
/// variance is at most 1e-18 bits^2 or 1e-10 mean^2, which only rounding leaves. (A null that
/// varies has about lg^2 N / N^3 at the least, 3e-13 at N = 100,000, and more than 1e-6 mean^2.)
bool is_constant(double mean, double variance);

/// (observed - mean) / sqrt(variance); NaN where the null is constant, see is_constant().
double exact_z(double observed, double mean, double variance);

/// What n shuffles say of one pair or triple.
struct SampledNull {
    double mean = 0;        ///< bits
    double variance = 0;    ///< bits^2, divided by n
    double skewness = 0;    ///< third central moment / variance^1.5; NaN where the variance is 0
    double z = 0;           ///< (observed - mean) / sqrt(variance); NaN where the variance is 0
    double percentile = 0;  ///< n_less / n: the paper's c, strict
    double p = 0;           ///< (1 + n_greater_or_equal) / (1 + n)
    double p_strict = 0;    ///< (1 + n_greater) / (1 + n), ties taken as below the observed
};

/// The sums are those of `item`; `observed` is its MI in bits. The central moments are formed in
/// 128-bit integers, so only the last division rounds. They are of differences rounded to
/// Statistic::moment_unit() / N, about 1e-5 bits; Sheppard's correction (less 1/12 unit^2) is left
/// out: it holds for smooth distributions only, where it is a millionth of the sampling error, and
/// would be wrong for conserved columns, whose nulls are a few atoms.
SampledNull sampled_null(const NullSums& sums, Index item, std::int64_t shuffles, double observed,
                         const Statistic& statistic);

/// Benjamini-Hochberg adjusted p (J. R. Stat. Soc. B 57:289, 1995): min over p_(k) >= p of m p_(k)
/// / k, at most 1, m the number of p that are no NaN. Equal p have equal results; NaN stays NaN.
std::vector<double> false_discovery_rate(std::span<const double> p);

/// The null of each item in units of NullSums, as LargestZ takes it; `mean`, `variance` are the
/// exact ones and `mi` the observed ones, bits. factor is 0 where the null is constant.
struct Standard {
    std::vector<double> centre, factor;  ///< [item]
};
Standard standardise(std::span<const double> mi, std::span<const double> mean,
                     std::span<const double> variance, const Statistic& statistic);

/// Single-step max-T family-wise p of each item (Westfall and Young, Resampling-Based Multiple
/// Testing, 1993): (1 + number of shuffles whose largest z >= the item's z) / (1 + n), `largest`
/// [shuffle] as LargestZ collects it. The item's z is (0 - centre) factor, by the very arithmetic
/// of the shuffles' z, so that ties are ties. NaN where factor is 0.
std::vector<double> family_wise_p(const Standard& standard, std::span<const double> largest);

/// The smallest tail_p and exact_p that is reported: it stands for itself and all below.
constexpr double kMinTail = 1e-300;

/// Everything of pairs, [pair] each, i < j in lexicographic order; what was not asked for is empty.
struct PairStatistics {
    std::vector<double> mi, joint_entropy, normalised, mip, mia;
    std::vector<double> mean, variance, z;  ///< exact
    std::vector<SampledNull> sampled;
    std::vector<std::uint32_t> less, equal;  ///< shuffles
    /// P(MI >= observed) of the Pearson III distribution of exact mean and variance and sampled
    /// skewness; without samples gamma_tail(); exact_p where that is known. With samples alone
    /// their mean and variance are used. NaN where the null is constant. An approximation: against
    /// full enumeration off by 0.06 in log10 p in the mean, 0.35 at most, down to p = 1e-3 where
    /// the null has 50 atoms or more; up to 0.85 too low where it has two; wrong by many orders far
    /// out (p < 1e-9). Where the shuffles themselves say more than a few n_greater_or_equal,
    /// sampled.p is the better number.
    std::vector<double> tail_p;
    /// P(MI >= observed) over all permutations where tables were enumerated, else NaN.
    std::vector<double> exact_p;
    std::vector<double> fdr;  ///< of sampled p, without samples of tail_p; NaN: constant null
    std::vector<double> family_p;
};

/// What is known of pairs; null pointers and empty spans for what is not.
struct PairSource {
    const Columns& columns;
    const Statistic& statistic;
    std::span<const std::int64_t> observed;            ///< T, [pair]
    std::span<const double> mean = {}, variance = {};  ///< exact, [pair]
    const NullSums* sums = nullptr;
    std::int64_t shuffles = 0;
    std::span<const double> largest = {};  ///< [shuffle]; needs the exact moments
    std::span<const double> exact_p = {};  ///< [pair]; NaN where not known
};

/// A pair with a column of one symbol has MI = 0, n_equal = n, p = 1 and NaN for z, tail_p, fdr and
/// family_p: it tests nothing, and is not counted among the tests.
PairStatistics pair_statistics(const PairSource& source);

}  // namespace pleat::mutual_information

#pragma GCC visibility pop
