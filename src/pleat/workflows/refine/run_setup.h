// Run setup: the chain model of a structure, and the numbers of chains and frames.
#pragma once

#include <string>
#include <vector>

#include "pleat/core/notes.h"
#include "pleat/workflows/refine/chain/chain_model.h"
#include "pleat/workflows/refine/chain/missing_residues.h"
#include "pleat/workflows/refine/refine.h"
#include "pleat/workflows/refine/sampling/pool.h"

namespace pleat::refine {

/// What run() needs before it samples.
struct RunSetup {
    HeavyAtoms heavy;
    ChainModel model;
    std::string found_options;  ///< by --pae; else empty
    /// The residues that --sequence added: segments, and their number.
    std::vector<std::string> built;
    Index built_residues = 0;
    Notes notes;
    Mode mode = Mode::pool;  ///< not automatic
    Index frames = 0;        ///< to write
    PoolOptions options;
};

/// Throws UsageError for options that exclude each other, InputError as make_chain_model() and
/// predicted_domains() do.
RunSetup set_up(const Ensemble& structure, const CurveInput& curve, const Parameters& parameters,
                const Context& context);

}  // namespace pleat::refine
