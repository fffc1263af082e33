// Run setup: what a run makes of its input before it samples, and the memory and the time that it
// needs.
#pragma once

#include <string>
#include <vector>

#include "pleat/core/estimate.h"
#include "pleat/core/notes.h"
#include "pleat/workflows/refine/chain/chain_model.h"
#include "pleat/workflows/refine/chain/missing_residues.h"
#include "pleat/workflows/refine/refine.h"
#include "pleat/workflows/refine/sampling/annealing.h"
#include "pleat/workflows/refine/sampling/pool.h"

namespace pleat::refine {

/// What run() needs before it samples.
struct RunSetup {
    HeavyAtoms heavy;
    ChainModel model;
    std::string found_options;  ///< by --pae; else empty
    /// Descriptions of the segments that --sequence added, and the number of residues.
    std::vector<std::string> built;
    Index built_residues = 0;
    Notes notes;
    Mode mode = Mode::pool;      ///< not automatic
    Index frames = 0;            ///< to write
    PoolOptions pool;            ///< in mode pool
    AnnealingOptions annealing;  ///< in mode fit
};

/// Throws UsageError for options that exclude each other, InputError as make_chain_model() and
/// predicted_domains() do.
RunSetup set_up(const Ensemble& structure, const CurveInput& curve, const Parameters& parameters,
                const Context& context);

}  // namespace pleat::refine

#pragma GCC visibility push(default)

namespace pleat::refine {

/// What decides memory and time of a run.
struct RunSize {
    Mode mode = Mode::pool;            ///< not automatic
    Index all_atoms = 0, atoms = 0;    ///< of the structure, of frames
    Index residues = 0, domains = 0;   ///< residues that must not overlap, rigid domains
    Index angles = 0;                  ///< that change independently
    Index copies = 1;                  ///< chains that have them
    Index frames = 0;                  ///< to write
    Index conformations = 0;           ///< that move
    Index kept = 0;                    ///< conformations whose angles are kept
    double moves = 0;                  ///< of all conformations together
    Index grid = 0, curve_points = 0;  ///< of profiles of moves, and of the curve; 0: no curve
    double diameter = 0;               ///< an upper bound of the largest distance, angstrom

    Index hinges() const { return angles * copies; }
};

/// Throws what run() throws before it samples.
RunSize size_of_run(const Ensemble& structure, const CurveInput& curve,
                    const Parameters& parameters, const Context& context);

/// Resources for run() and writing its files. The time is within a factor of about three. For a GPU
/// only mode fit is supported; throws UsageError for others.
Estimate estimate(const RunSize& size, const Context& context);

}  // namespace pleat::refine

#pragma GCC visibility pop
