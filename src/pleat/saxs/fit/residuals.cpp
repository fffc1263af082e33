// Residuals: counts runs of one sign, whose number in noise is nearly normal.
#include "pleat/saxs/fit/residuals.h"

#include <cmath>

namespace pleat::saxs {

double few_runs_probability(std::span<const double> residuals) {
    double positive = 0, runs = 1;
    for (std::size_t n = 0; n < residuals.size(); ++n) {
        positive += residuals[n] > 0;
        if (n > 0) runs += (residuals[n] > 0) != (residuals[n - 1] > 0);
    }
    const auto count = static_cast<double>(residuals.size());
    const double negative = count - positive, mean = 2 * positive * negative / count + 1,
                 variance = (mean - 1) * (mean - 2) / (count - 1);
    if (count < 2) return 1;
    if (positive == 0 || negative == 0) return 0;
    if (!(variance > 0)) return 1;  // one of each sign: always two runs
    return std::erfc((mean - runs) / std::sqrt(2 * variance)) / 2;
}

}  // namespace pleat::saxs
