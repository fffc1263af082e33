// Pair run: all pairs of columns, counted, compared with their exact null and with shuffles.
#pragma once

#include <string>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

/// What the stages after the pairs need of them.
struct PairRun {
    std::vector<std::int64_t> observed;  ///< T, [pair]
    PairStatistics statistics;
};

/// Hashes of input and parameters, for the checkpoints of the two stages.
struct PairHashes {
    std::string exact, sampled;
};

/// Stages "exact" and "pairs" of the progress.
PairRun run_pairs(const Problem& problem, Kernel& kernel, const Parameters& parameters,
                  const PairHashes& hashes, const Context& context);

}  // namespace pleat::mutual_information
