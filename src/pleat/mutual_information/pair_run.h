// Pair run: all pairs of columns, counted, compared with their exact null and with shuffles.
#pragma once

#include <string>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/mutual_information/kernel.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

/// What the stages after the pairs need of them.
struct PairRun {
    std::vector<std::int64_t> observed;  ///< T, [pair]
    PairStatistics statistics;
};

/// Stages "exact" and "pairs" of the progress. `problem_hash` names input and parameters for the
/// checkpoint.
PairRun run_pairs(const Problem& problem, Kernel& kernel, const Parameters& parameters,
                  const std::string& problem_hash, const Context& context);

}  // namespace pleat::mutual_information
