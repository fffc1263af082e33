// Thinning: values along many positions as few, so that a page holds runs of any length.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::report {

/// Positions of a curve or a strip at most: more than a screen is wide.
constexpr Index kMostPositions = 4000;

/// A curve. Where there are more than `most` positions, of each block of them the least and the
/// greatest value, in their order: what stands out stays. Values that are NaN have no part in that.
struct ThinnedCurve {
    std::vector<double> positions, values;
    Index block = 1;  ///< positions that two of these stand for; 1: all are here
    /// What a page says of it; empty where all are here.
    std::string note(const std::string& item) const;
};
ThinnedCurve thin_curve(std::span<const double> positions, std::span<const double> values,
                        Index most = kMostPositions);

/// Runs of equal labels. Where there are more than `most`, each block of labels is the one that is
/// in it most often, the lowest of several.
struct ThinnedSteps {
    std::vector<std::int64_t> labels, lengths;
    Index block = 1;
    std::string note(const std::string& item) const;
};
ThinnedSteps thin_steps(std::span<const std::int64_t> labels, Index most = kMostPositions);

}  // namespace pleat::report
