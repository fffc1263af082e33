// Memory estimate: what a run keeps at a time, and how long it takes, from its options.
#pragma once

#include <string>

#include "pleat/core/estimate.h"
#include "pleat/workflows/refine/refine.h"

#pragma GCC visibility push(default)

namespace pleat::refine {

/// What decides memory and time of a run.
struct RunSize {
    Mode mode = Mode::pool;            ///< not automatic
    Index all_atoms = 0, atoms = 0;    ///< of the structure, of frames
    Index residues = 0, domains = 0;   ///< residues that must not overlap, rigid domains
    Index angles = 0;                  ///< that change
    Index frames = 0;                  ///< to write
    Index conformations = 0;           ///< that move: of all chains, powers and replicas
    Index walkers = 1;                 ///< chains and powers
    Index ahead = 1;                   ///< steps of a walker that threads try at a time on a GPU
    Index kept = 0;                    ///< conformations whose angles are kept
    double moves = 0;                  ///< of all conformations together
    Index grid = 0, curve_points = 0;  ///< of profiles of moves, and of the curve; 0: no curve
    double diameter = 0;               ///< an upper bound of the largest distance, angstrom
};

/// Throws what run() throws before it samples.
RunSize size_of_run(const Ensemble& structure, const CurveInput& curve,
                    const Parameters& parameters, const Context& context);

/// What run() and writing its files need. The time is right to a factor of about three. On a GPU
/// for modes fit and average; throws UsageError for others there.
Estimate estimate(const RunSize& size, const Context& context);

}  // namespace pleat::refine

#pragma GCC visibility pop
