// Sine grid: detects evenly spaced q.
#include "pleat/saxs/debye/sine_grid.h"

#include <cmath>

namespace pleat::saxs {

namespace {

/// Tolerance as a fraction of the last q: rounding a distance to float32 changes q r as much.
constexpr double kEvenness = 1e-7;
/// With fewer values of q, computing each sine separately is faster.
constexpr Index kFewest = 4;

}  // namespace

SineGrid::SineGrid(std::span<const double> values)
    : count(static_cast<Index>(values.size())), q(values.begin(), values.end()) {
    if (count < kFewest) return;
    first = q.front();
    step = (q.back() - q.front()) / static_cast<double>(count - 1);
    for (Index k = 0; k < count; ++k)
        if (std::fabs(q[static_cast<std::size_t>(k)] - (first + static_cast<double>(k) * step)) >
            kEvenness * q.back())
            return;
    even = true;
    starts_at_zero = first == 0.0;
    centres = (count + kOffsetCount - 1) / kOffsetCount;
}

}  // namespace pleat::saxs
