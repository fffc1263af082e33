// Pair run: counts all pairs of columns, compares them with their exact null and with shuffles, and
// corrects for many tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/view.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/mutual_information.h"

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

/// Sets `normalised`, `apc` and `asc` from `mi` and `joint_entropy`.
void correct(Index columns, PairInformation& pairs);

/// Whether all permutations have the same MI: the variance is at most 1e-18 bits^2 or 1e-10 mean^2,
/// which is rounding. (A null that varies has at least about lg^2 N / N^3, 3e-13 at N = 100,000,
/// and more than 1e-6 mean^2.)
bool is_constant(double mean, double variance);

/// (observed - mean) / sqrt(variance); NaN if the null is constant, see is_constant().
double exact_z(double observed, double mean, double variance);

/// The statistics of `item`, whose observed MI in bits is `observed`. Central moments are formed in
/// 128-bit integers, so only the last division rounds. The differences behind them are rounded to
/// Statistic::moment_unit() / N, about 1e-5 bits, without Sheppard's correction: it would be wrong
/// for conserved columns, whose nulls have a few values, and negligible for others.
SampledNull sampled_null(const NullSums& sums, Index item, std::int64_t shuffles, double observed,
                         const Statistic& statistic);

/// Benjamini-Hochberg adjusted p (J. R. Stat. Soc. B 57:289, 1995): min over p_(k) >= p of m p_(k)
/// / k, at most 1, m the number of p that are not NaN. Equal p have equal results; NaN stays NaN.
std::vector<double> false_discovery_rate(std::span<const double> p);

/// p of pairs whose null distribution varies; NaN for others.
std::vector<double> tested_p(const PairInformation& pairs, std::int64_t shuffles);

/// The null of each item in units of NullSums, for LargestZ, from the exact mean and variance and
/// the observed MI in bits. z_factor is 0 if the null is constant.
struct ZScale {
    std::vector<double> z_centre, z_factor;  ///< [item]
};
ZScale make_z_scale(std::span<const double> mi, std::span<const double> mean,
                    std::span<const double> variance, const Statistic& statistic);

/// Single-step max-T family-wise p of each item (Westfall and Young, Resampling-Based Multiple
/// Testing, 1993): (1 + number of shuffles whose largest z >= the item's z) / (1 + n), `max_z`
/// [shuffle] as LargestZ collects it. The item's z is (0 - z_centre) z_factor, computed like the
/// shuffles' z, so that ties stay ties. NaN if z_factor is 0.
std::vector<double> family_wise_p(const ZScale& standard, std::span<const double> max_z);

/// The input of pair_statistics(); pointers may be null and spans empty if not computed.
struct CountedPairs {
    const CodedColumns& columns;
    const Statistic& statistic;
    std::span<const std::int64_t> observed;            ///< T, [pair]
    std::span<const double> mean = {}, variance = {};  ///< exact, [pair]
    const NullSums* sums = nullptr;
    std::int64_t shuffles = 0;
    std::span<const double> max_z = {};    ///< [shuffle]; requires the exact moments
    std::span<const double> exact_p = {};  ///< [pair]; NaN if not enumerated
};

/// A pair with a column of one symbol has MI = 0, n_equal = n, p = 1 and NaN for z, tail_p, fdr and
/// family_p, and does not count as a test.
PairInformation pair_statistics(const CountedPairs& source);

/// The result of the pair stage, which the triple stage uses.
struct PairRun {
    std::vector<std::int64_t> observed;  ///< T, [pair]
    PairInformation statistics;
};

/// Hashes of input and parameters for the checkpoints of the two stages.
struct PairHashes {
    std::string exact, sampled;
};

/// Runs the progress stages "exact" and "pairs". Throws Cancelled, DeviceError.
PairRun run_pairs(const Problem& problem, Kernel& kernel, const Parameters& parameters,
                  const PairHashes& hashes, const Context& context);

}  // namespace pleat::mutual_information
