// Triple run: all triples of columns, tile by tile, into collectors that never hold all of them.
#pragma once

#include <string>

#include "pleat/core/context.h"
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/mutual_information.h"
#include "pleat/mutual_information/pairs/pair_run.h"

namespace pleat::mutual_information {

/// Maximum bytes of host memory of run_triples(), beyond the moments of pairs. Triples kept above a
/// threshold are limited to the memory that is left.
std::int64_t triple_run_bytes(const Alignment& alignment, const Parameters& parameters,
                              const Context& context);

/// Runs the progress stage "triples". Rank 0 has the complete result. Throws Cancelled, UsageError.
TripleResult run_triples(const Problem& problem, Kernel& kernel, const PairRun& pairs,
                         const Parameters& parameters, const std::string& problem_hash,
                         const Context& context);

}  // namespace pleat::mutual_information
