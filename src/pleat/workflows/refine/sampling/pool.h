// Pool: conformations that are sampled together, and the powers of the likelihood among which they
// are exchanged.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/view.h"
#include "pleat/workflows/refine/moves/moves.h"
#include "pleat/workflows/refine/sampling/sampler.h"

namespace pleat::refine {

/// Powers of the likelihood from 0 (only prior and overlaps) to 1; rung 0 is 0. One rung is 1.
/// Swaps of neighbours are counted; in burn-in the powers adapt until all pairs swap equally often.
class Ladder {
public:
    explicit Ladder(Index rungs);

    Index size() const { return static_cast<Index>(betas.size()); }
    /// The probability that two neighbours swap: min(1, exp((b_i - b_j)(ln L_j - ln L_i))).
    double swap_probability(Index lower, double log_likelihood, double log_likelihood_above) const;
    void count(Index lower, double probability);
    /// Moves the powers by the mean swap probabilities since the last call: for the temperatures
    /// T = 1 / beta, ln of each step T_k - T_(k+1) changes by the difference of the probabilities
    /// at both its ends (Vousden, Farr, Mandel, MNRAS 455:1919, 2016). `round`: later changes are
    /// smaller.
    void adapt(Index round);
    void reset_counts();

    std::vector<double> betas;          ///< [rung], rising
    std::vector<double> sums, numbers;  ///< [lower rung]: of swap probabilities
};

struct PoolOptions {
    Index chains = 1;
    Index rungs = 1;     ///< walkers of each chain, at different powers of the likelihood
    Index replicas = 1;  ///< conformations of each walker, whose mean is compared with the curve
    Index together = 1;  ///< walkers whose profiles are computed in one call
    Index in_turn = 1;   ///< such batches of a thread, which prepares one while another is computed
    Index ahead = 1;  ///< steps of a walker that threads try at a time at most, if it has several
    bool few_moves = false;  ///< whether the time of a move counts more than that of many at a time
    Index moves = 1;         ///< between two frames of a chain
    Index burn_in = 1;       ///< frames of each chain that are left out
    Index kept = 1;          ///< frames of each chain that are kept

    /// Rungs are swapped after at most 5 moves, and with each frame.
    Index swaps_per_frame() const {
        constexpr Index kMovesPerSwap = 5;
        return rungs > 1 ? (moves + kMovesPerSwap - 1) / kMovesPerSwap : 1;
    }
    /// Divides the walkers into batches for a GPU: for 16 threads with up to four batches each,
    /// whatever the number of threads, so results do not depend on it. Threads that have no walker
    /// try steps of others ahead.
    void divide_for_gpu();
};

/// What is kept of the fit of a walker.
enum FitNumber : Index { kLogLikelihood, kChi2, kC2, kSquares, kRuns, kFitNumbers };

/// The conformations of each chain at power 1.
struct Pool {
    Array<double, 3> angles;  ///< [frame of a chain, chain and replica, hinge]
    Array<double, 3> fits;    ///< [frame of a chain, chain, FitNumber]
    std::array<std::int64_t, kMoveKinds> proposed{}, accepted{};  ///< after burn-in
    Ladder ladder{1};                                             ///< its swaps after burn-in
    std::int64_t dropped = 0;   ///< steps that threads tried ahead in vain
    std::int64_t arrivals = 0;  ///< after burn-in: conformations that came from power 0 to power 1
};

using TargetBatch = std::vector<std::unique_ptr<SamplingTarget>>;  ///< [walker and replica]
/// Makes the targets of some walkers, whose profiles are computed together.
using TargetFactory = std::function<TargetBatch(Index walkers, Index replicas)>;

/// Runs the chains; `problem`: hash of the input and options. Ranks share the chains, and each
/// returns all of them, with the bits of one rank. Throws InputError if a chain finds no start,
/// Cancelled.
Pool sample_pool(const ChainModel& model, const Moves& moves, const TargetFactory& make_targets,
                 const PoolOptions& options, const std::string& problem, const Context& context);

}  // namespace pleat::refine
