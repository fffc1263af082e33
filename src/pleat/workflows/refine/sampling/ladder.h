// Ladder: the powers of the likelihood among which conformations are exchanged.
#pragma once

#include <vector>

#include "pleat/core/view.h"

namespace pleat::refine {

/// Powers of the likelihood from 0 (prior and overlaps alone) to 1; rung 0 is 0. One rung is 1.
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

}  // namespace pleat::refine
