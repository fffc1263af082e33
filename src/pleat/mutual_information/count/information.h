// Information: mutual information and entropy in bits from the integer statistic.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/count/statistic.h"

namespace pleat::mutual_information {

/// T_i = sum of F over the margin of each column, [column], in units of 2^-scale bits.
std::vector<std::int64_t> margin_sums(const Columns& columns, const Statistic& statistic);

/// MI_ij = H_i + H_j - H_ij = (F(N) - T_i - T_j + T) / N in bits, N the number of rows.
///
/// The difference is formed in integers. F is additive over prime factors, so a table whose MI is
/// exactly 0 (one symbol in a column, or counts r_a c_b / N) gives exactly 0. The error of MI is at
/// most 4 lg N 2^-(scale + 1), 3e-11 bits at N = 100,000 (scale 40), and in practice a tenth of
/// that, because the roundings of different primes are independent. Results below 0 are returned as
/// 0.
double pair_information(const Statistic& statistic, std::int64_t t_i, std::int64_t t_j,
                        std::int64_t t);

/// MI_ijk = H_i + H_j + H_k - H_ijk (total correlation; Watanabe 1960) in bits, computed as
/// pair_information().
double triple_information(const Statistic& statistic, std::int64_t t_i, std::int64_t t_j,
                          std::int64_t t_k, std::int64_t t);

/// Entropy in bits of a table of any number of columns: (F(N) - T) / N.
double joint_entropy(const Statistic& statistic, std::int64_t t);

/// MI in bits of every pair i < j in lexicographic order, from the observed T of each, [pair].
std::vector<double> pair_information(const Columns& columns, const Statistic& statistic,
                                     std::span<const std::int64_t> observed);

/// H_ij in bits of every pair, [pair].
std::vector<double> joint_entropies(const Statistic& statistic,
                                    std::span<const std::int64_t> observed);

}  // namespace pleat::mutual_information
