// Triple run: all triples of columns, tile by tile, into collectors that never hold all of them.
#pragma once

#include <string>

#include "pleat/core/context.h"
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/mutual_information.h"
#include "pleat/mutual_information/pairs/pair_run.h"

namespace pleat::mutual_information {

/// Bytes of the host's memory that run_triples() takes at most, beyond the moments of pairs. What
/// is kept over a threshold has what is left, and adapts to it.
std::int64_t triple_run_bytes(const Alignment& alignment, const Parameters& parameters,
                              const Context& context);

/// Stage "triples" of the progress. The result is whole on rank 0.
TripleResult run_triples(const Problem& problem, Kernel& kernel, const PairRun& pairs,
                         const Parameters& parameters, const std::string& problem_hash,
                         const Context& context);

}  // namespace pleat::mutual_information
