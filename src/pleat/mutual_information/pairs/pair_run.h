// Pair run: counts all pairs of columns and compares them with their exact null and with shuffles.
#pragma once

#include <string>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

/// The result of the pair stage, which the triple stage uses.
struct PairRun {
    std::vector<std::int64_t> observed;  ///< T, [pair]
    PairStatistics statistics;
};

/// Hashes of input and parameters for the checkpoints of the two stages.
struct PairHashes {
    std::string exact, sampled;
};

/// Stages "exact" and "pairs" of the progress. Throws Cancelled, DeviceError.
PairRun run_pairs(const Problem& problem, Kernel& kernel, const Parameters& parameters,
                  const PairHashes& hashes, const Context& context);

}  // namespace pleat::mutual_information
