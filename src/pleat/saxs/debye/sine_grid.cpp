// Sine grid: tells evenly spaced q from others.
#include "pleat/saxs/debye/sine_grid.h"

#include <cmath>

namespace pleat::saxs {

namespace {

/// As a part of the last q: what the rounding of a distance to float32 does to q r all the same.
constexpr double kEvenness = 1e-7;
/// Fewer values of q are done sooner one by one.
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
    from_zero = first == 0.0;
    centres = (count + kSpan - 1) / kSpan;
}

}  // namespace pleat::saxs
