// Ladder: swap probabilities, and powers that follow them.
#include "pleat/workflows/refine/sampling/ladder.h"

#include <algorithm>
#include <cmath>

namespace pleat::refine {

namespace {

constexpr double kLowest = 0.001;  // the lowest power above 0, before they adapt

}  // namespace

Ladder::Ladder(Index rungs)
    : betas(static_cast<std::size_t>(rungs)), sums(betas.size(), 0.0), numbers(betas.size(), 0.0) {
    // Powers that are all too far apart would have no swaps to adapt by.
    const double step = rungs > 2 ? std::pow(kLowest, 1 / static_cast<double>(rungs - 2)) : 1.0;
    double beta = 1;
    for (std::size_t rung = betas.size(); rung-- > 0; beta *= step) betas[rung] = beta;
    if (betas.size() > 1) betas[0] = 0;
}

double Ladder::swap_probability(Index lower, double log_likelihood,
                                double log_likelihood_above) const {
    const auto rung = static_cast<std::size_t>(lower);
    return std::min(
        1.0, std::exp((betas[rung] - betas[rung + 1]) * (log_likelihood_above - log_likelihood)));
}

void Ladder::count(Index lower, double probability) {
    sums[static_cast<std::size_t>(lower)] += probability;
    ++numbers[static_cast<std::size_t>(lower)];
}

void Ladder::adapt(Index round) {
    const std::size_t rungs = betas.size();
    if (rungs < 3) return;
    const auto mean = [&](std::size_t lower) {
        return numbers[lower] > 0 ? sums[lower] / numbers[lower] : 0.0;
    };
    const double rate = 1 / (1 + static_cast<double>(round) / 50);
    // From beta 1 towards 0; the step of rung k is that to the rung above.
    std::vector<double> old = betas;
    for (std::size_t rung = rungs - 1; rung-- > 1;) {
        const double step = 1 / old[rung] - 1 / old[rung + 1],
                     change = rate * (mean(rung) - mean(rung - 1));
        betas[rung] = 1 / (1 / betas[rung + 1] + step * std::exp(change));
    }
    reset_counts();
}

void Ladder::reset_counts() {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(numbers.begin(), numbers.end(), 0.0);
}

}  // namespace pleat::refine
