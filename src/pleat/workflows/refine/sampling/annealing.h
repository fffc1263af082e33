// Annealing: conformations that pass from the prior to the posterior of a curve, by annealed
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

struct AnnealingOptions {
    Index conformations = 1024;
    Index lineages = 64;  ///< groups of draws of the prior, whose descendants are compared
    Index moves = 25;     ///< of a conformation at each power of the likelihood
    /// How often all of it is made again, each time with twice the moves, until it is enough.
    Index doublings = 0;
    Index together = 1;  ///< conformations whose profiles are computed in one call
    Index in_turn = 1;   ///< such calls of a thread, which prepares one while another is computed

    /// Divides the conformations for a GPU: for 16 threads, whatever their number, so that results
    /// do not depend on it.
    void divide_for_gpu();
};

/// What is kept of the fit of a conformation.
enum FitNumber : Index { kLogLikelihood, kChi2, kC2, kSquares, kRuns, kFitNumbers };

struct Posterior {
    Array<double, 2> angles;      ///< [conformation, hinge], in an order that mixes the lineages
    Array<double, 2> fits;        ///< [conformation, FitNumber]
    std::vector<Index> lineages;  ///< [conformation]
    std::vector<double> powers;   ///< of the likelihood, rising from 0 to 1
    double log_evidence = 0;      ///< ln of the mean likelihood under the prior
    Index ancestors = 0;          ///< draws of the prior that have descendants
    Index moves = 0;              ///< of a conformation, from prior to posterior
    MoveCounts counts;            ///< of all moves since the prior
};

/// Makes the targets of conformations whose profiles are computed together.
using TargetFactory = std::function<TargetBatch(Index conformations)>;

/// `is_enough` judges the conformations before moves are doubled.
/// `problem`: hash of the input and options. Ranks share the conformations, and each returns all of
/// them, with the bits of one rank. Throws InputError if there is no start without overlaps,
/// Cancelled.
Posterior anneal(const ChainModel& model, const Moves& moves, const TargetFactory& make_targets,
                 const AnnealingOptions& options,
                 const std::function<bool(const Posterior&)>& is_enough, const std::string& problem,
                 const Context& context);

}  // namespace pleat::refine
