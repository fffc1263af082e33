// Moments: exact mean and variance of MI when columns are permuted, without any sampling.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "pleat/core/context.h"
#include "pleat/core/view.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/triples/tiles.h"

namespace pleat::mutual_information {

/// Mean, and population variance, of MI_ij in bits over all permutations of the columns against
/// each other, for every pair i < j in lexicographic order, [pair]. Mean: Vinh, Epps, Bailey, JMLR
/// 11:2837 (2010); variance: Romano et al., ICML 2014, regrouped (README.md). Stage "exact" of the
/// progress; the same bits for any number of threads and ranks, whose tiles `sweep` deals. Resumes
/// from, and saves to, context.checkpoint, for the problem of that hash. Throws Cancelled.
void pair_moments(const Columns& columns, View<double, 1> mean, View<double, 1> variance,
                  const Context& context, const std::string& problem_hash = {});

/// Bytes that this takes at most, beyond its arguments, of columns with so many symbols.
std::int64_t pair_moments_bytes(Index rows, Index columns, int symbols);

/// The same for one pair given by its margins (which sum to the same number of rows).
struct Moments {
    double mean = 0, variance = 0;
};
Moments pair_moments(std::span<const Index> margin_i, std::span<const Index> margin_j);

}  // namespace pleat::mutual_information
