// Run setup: the chain model of a structure, and the numbers of chains and frames.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/workflows/refine/chain/chain_model.h"
#include "pleat/workflows/refine/refine.h"
#include "pleat/workflows/refine/sampling/pool.h"

namespace pleat::refine {

/// A structure without hydrogens and water.
struct HeavyAtoms {
    std::shared_ptr<const Topology> topology;
    Array<float, 2> xyz;  ///< [axis, atom]
};

/// What run() needs before it samples.
struct RunSetup {
    HeavyAtoms heavy;
    ChainModel model;
    std::string found_options;  ///< by --pae; else empty
    std::vector<std::string> notes;
    Mode mode = Mode::pool;  ///< not automatic
    Index frames = 0;        ///< to write
    PoolOptions options;
};

/// Throws UsageError for options that exclude each other, InputError as make_chain_model() and
/// predicted_domains() do.
RunSetup set_up(const Ensemble& structure, const CurveInput& curve, const Parameters& parameters,
                const Context& context);

}  // namespace pleat::refine
