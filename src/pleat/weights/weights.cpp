// The weights of sequences: check, problem, kernel, loop, result.
#include "pleat/weights/weights.h"

#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "pleat/core/error.h"
#include "pleat/weights/kernel.h"

namespace pleat::weights {

Index minimum_identical(double threshold, Index columns) {
    constexpr double kRounding = 1e-9;
    const double exact = threshold * static_cast<double>(columns);
    const auto rounded = static_cast<Index>(std::ceil(exact - kRounding));
    return rounded + 1;
}

std::vector<double> sequence_weights(View<const std::uint8_t, 2> letters, double threshold,
                                     const Context& context) {
    if (!(threshold >= 0.0 && threshold <= 1.0)) {
        throw UsageError(
            fmt::format("expected an identity threshold from 0 to 1, found {}", threshold));
    }
    const Index sequences = letters.extent(0);
    const Index columns = letters.extent(1);
    const Index most_differences = columns - minimum_identical(threshold, columns);
    std::vector<double> weights(static_cast<std::size_t>(sequences), 1.0);
    if (most_differences < 0 || sequences < 2) return weights;

    const auto kernel = make_kernel({letters, most_differences}, context);
    const Index steps = kernel->step_count();
    for (Index step = 0; step < steps; ++step) {
        if (context.cancelled()) throw Cancelled("stopped while weighting the sequences");
        kernel->step(step);
        context.update("weights", step + 1, steps);
    }
    const std::vector<Index> neighbours = kernel->neighbours();
    for (std::size_t n = 0; n < weights.size(); ++n) {
        weights[n] = 1.0 / static_cast<double>(neighbours[n]);
    }
    return weights;
}

double effective_count(std::span<const double> weights) {
    double sum = 0.0;
    for (const double weight : weights) sum += weight;
    return sum;
}

}  // namespace pleat::weights
