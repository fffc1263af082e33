// Hypergeometric: the distribution of one cell of a table with fixed margins.
#pragma once

#include <vector>

#include "pleat/core/view.h"

namespace pleat::mutual_information {

/// The probabilities of first, first + 1, ...; those of other integers are negligible.
struct ProbabilityWindow {
    Index first = 0;
    std::vector<double> probability;

    Index size() const { return static_cast<Index>(probability.size()); }
};

/// Hyp(all, marked, drawn): how many of `marked` among `all` objects are in a sample of `drawn`.
/// Leaves out both tails below `cut` times the largest probability, but keeps up to `more_below`
/// further values of the lower tail. Relative error of a probability: 1e-14 (the recurrence from
/// the mode adds 2e-16 per step).
void hypergeometric(Index all, Index marked, Index drawn, double cut, Index more_below,
                    ProbabilityWindow& window);

/// A `cut` too small to change any mean or variance here.
constexpr double kTail = 1e-22;

}  // namespace pleat::mutual_information
