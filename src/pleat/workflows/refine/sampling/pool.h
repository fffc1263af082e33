// Pool: Monte Carlo chains of what prior and overlaps allow.
#pragma once

#include <string>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/workflows/refine/moves/moves.h"
#include "pleat/workflows/refine/sampling/sampler.h"

namespace pleat::refine {

struct PoolOptions {
    Index chains = 1;
    Index moves = 1;    ///< between two frames of a chain
    Index burn_in = 1;  ///< frames of each chain that are left out
    Index kept = 1;     ///< frames of each chain that are kept
};

struct Pool {
    Array<double, 3> angles;  ///< [frame of a chain, chain, hinge]
    MoveCounts moves;         ///< after burn-in
};

/// Runs the chains; `problem`: hash of the input and options. Ranks share the chains, and each
/// returns all of them, with the bits of one rank. Throws InputError if a chain finds no start,
/// Cancelled.
Pool sample_pool(const ChainModel& model, const Moves& moves, const PoolOptions& options,
                 const std::string& problem, const Context& context);

}  // namespace pleat::refine
