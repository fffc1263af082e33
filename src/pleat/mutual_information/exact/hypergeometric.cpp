// Hypergeometric: probabilities by recurrence from the mode, so that nothing over- or underflows.
#include "pleat/mutual_information/exact/hypergeometric.h"

#include <algorithm>

namespace pleat::mutual_information {

void hypergeometric(Index all, Index marked, Index drawn, double cut, Index more_below,
                    ProbabilityWindow& window) {
    const Index lowest = std::max(Index{0}, marked + drawn - all);
    const Index highest = std::min(marked, drawn);
    const auto mode_quotient = static_cast<double>(marked + 1) * static_cast<double>(drawn + 1) /
                               static_cast<double>(all + 2);
    const Index mode = std::clamp(static_cast<Index>(mode_quotient), lowest, highest);
    // p(x) / p(x - 1) = up(x) / down(x).
    const auto up = [&](Index x) {
        return static_cast<double>(marked - x + 1) * static_cast<double>(drawn - x + 1);
    };
    const auto down = [&](Index x) {
        return static_cast<double>(x) * static_cast<double>(all - marked - drawn + x);
    };
    auto& p = window.probability;
    p.clear();
    Index more = more_below;
    double value = 1, sum = 0;
    for (Index x = mode; x >= lowest; --x) {
        if (value < cut && more-- <= 0) break;
        p.push_back(value);
        value *= down(x) / up(x);
    }
    window.first = mode - static_cast<Index>(p.size()) + 1;
    std::reverse(p.begin(), p.end());
    value = 1;
    for (Index x = mode + 1; x <= highest; ++x) {
        value *= up(x) / down(x);
        if (value < cut) break;
        p.push_back(value);
    }
    for (const double weight : p) sum += weight;
    for (double& weight : p) weight /= sum;
}

}  // namespace pleat::mutual_information
