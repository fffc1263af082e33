// Reduced curves: curves and label sequences of any length reduced to what a page can show.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::report {

/// Maximum number of positions of a curve or a strip: more than a screen is wide.
constexpr Index kMaxPositions = 4000;

/// A curve of up to `max_positions` positions. Longer ones keep the minimum and the maximum of each
/// block of positions, in their order. NaN values are ignored.
struct ReducedCurve {
    std::vector<double> positions, values;
    Index block = 1;  ///< positions per block; 1: nothing was left out
    /// The remark for the page; empty if nothing was left out.
    std::string note(const std::string& item) const;
};
ReducedCurve reduce_curve(std::span<const double> positions, std::span<const double> values,
                          Index max_positions = kMaxPositions);

/// Stretches of equal labels. If there are more than `max_positions`, each block of labels becomes
/// its most frequent label, the lowest of several.
struct ReducedSteps {
    std::vector<std::int64_t> labels, lengths;
    Index block = 1;
    std::string note(const std::string& item) const;
};
ReducedSteps reduce_steps(std::span<const std::int64_t> labels,
                          Index max_positions = kMaxPositions);

}  // namespace pleat::report
