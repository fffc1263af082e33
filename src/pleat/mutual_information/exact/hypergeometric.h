// Hypergeometric: the law of one cell of a table whose margins are fixed.
#pragma once

#include <vector>

#include "pleat/core/view.h"

namespace pleat::mutual_information {

/// Probabilities of first, first + 1, ...: all that matter of a law on integers.
struct Window {
    Index first = 0;
    std::vector<double> probability;

    Index size() const { return static_cast<Index>(probability.size()); }
};

/// Hyp(all, marked, drawn): how many of `marked` among `all` objects are in a sample of `drawn`.
/// Leaves out both tails where the probability is below `cut` times the largest; then, where the
/// support has them, keeps `more_below` further values below. Relative error of a probability:
/// 1e-14 (the recurrence from the mode adds 2e-16 a step).
void hypergeometric(Index all, Index marked, Index drawn, double cut, Index more_below,
                    Window& window);

/// The tail that no mean or variance here can tell from nothing.
constexpr double kTail = 1e-22;

}  // namespace pleat::mutual_information
