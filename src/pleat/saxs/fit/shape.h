// Shape: radius of gyration, largest distance and pair distances of scatterers.
#pragma once

#include <span>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

/// Number of groups of rows with separate histograms, so that sums do not depend on the number of
/// threads.
inline constexpr Index kShapeBlocks = 64;

/// Measures `positions` [axis, scatterer], angstrom, with `amplitudes` [scatterer], electrons; only
/// the first `solid` scatterers count for the diameter. Bin n of P(r) holds distances in
/// [n * bin_width, (n + 1) * bin_width); `bin_width` 0: no P(r). The same bits for any number of
/// threads. Throws Cancelled.
Shape measure_shape(View<const float, 2> positions, std::span<const double> amplitudes, Index solid,
                    double bin_width, const Context& context);

}  // namespace pleat::saxs
