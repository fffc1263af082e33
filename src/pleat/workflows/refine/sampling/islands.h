// Islands: conformations that pass from the prior to the posterior of a curve, by annealed
// sequential Monte Carlo.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/workflows/refine/moves/moves.h"
#include "pleat/workflows/refine/sampling/sampler.h"

namespace pleat::refine {

struct IslandOptions {
    Index islands = 16;    ///< populations that do not influence each other
    Index particles = 64;  ///< conformations of each
    Index moves = 25;      ///< of a conformation at each power of the likelihood
    /// How often all of it is made again, each time with twice the moves, until it is enough.
    Index doublings = 0;
    Index together = 1;  ///< conformations whose profiles are computed in one call
    Index in_turn = 1;   ///< such calls of a thread, which prepares one while another is computed

    Index count() const { return islands * particles; }
    /// Divides the conformations for a GPU: for 16 threads, whatever their number, so that results
    /// do not depend on it.
    void divide_for_gpu();
};

/// What is kept of the fit of a conformation.
enum FitNumber : Index { kLogLikelihood, kChi2, kC2, kSquares, kRuns, kFitNumbers };

struct Posterior {
    Array<double, 3> angles;           ///< [particle, island, hinge]
    Array<double, 3> fits;             ///< [particle, island, FitNumber]
    std::vector<double> powers;        ///< of the likelihood, rising from 0 to 1
    std::vector<double> log_evidence;  ///< [island]: ln of the mean likelihood under the prior
    Index ancestors = 0;               ///< draws of the prior that have descendants, of all islands
    Index moves = 0;                   ///< of a conformation, from prior to posterior
    MoveCounts counts;                 ///< of all moves since the prior
};

/// Makes the targets of conformations whose profiles are computed together.
using TargetFactory = std::function<TargetBatch(Index conformations)>;

/// Draws `options.count()` conformations; `is_enough` judges them before moves are doubled.
/// `problem`: hash of the input and options. Ranks share the conformations, and each returns all of
/// them, with the bits of one rank. Throws InputError if there is no start without overlaps,
/// Cancelled.
Posterior sample_islands(const ChainModel& model, const Moves& moves,
                         const TargetFactory& make_targets, const IslandOptions& options,
                         const std::function<bool(const Posterior&)>& is_enough,
                         const std::string& problem, const Context& context);

}  // namespace pleat::refine
