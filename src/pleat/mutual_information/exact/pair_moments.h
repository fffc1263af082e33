// Pair moments: exact mean and variance of MI_ij over all permutations of the columns.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "pleat/core/context.h"
#include "pleat/core/view.h"
#include "pleat/mutual_information/count/columns.h"

namespace pleat::mutual_information {

/// Mean, and population variance, of MI_ij in bits over all permutations of the columns against
/// each other, for every pair i < j in lexicographic order, [pair] (README.md, section 4). The same
/// bits for any number of threads and ranks. Stage "exact" of the progress; resumes from, and saves
/// to, context.checkpoint, for the problem with this hash. Throws Cancelled.
void pair_moments(const CodedColumns& columns, View<double, 1> mean, View<double, 1> variance,
                  const Context& context, const std::string& problem_hash = {});

/// Maximum bytes that pair_moments() allocates for columns with up to `symbols` symbols.
std::int64_t pair_moments_bytes(Index rows, Index columns, int symbols);

/// Computes mean and variance of one pair from its margins, which have the same sum; 0 if one has
/// fewer than two symbols.
struct Moments {
    double mean = 0, variance = 0;
};
Moments pair_moments(std::span<const Index> margin_i, std::span<const Index> margin_j);

}  // namespace pleat::mutual_information
