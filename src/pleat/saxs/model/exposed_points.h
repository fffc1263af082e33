// Exposed points: which points on a sphere no other sphere covers, by vector instructions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/array.h"

namespace pleat::saxs {

/// Elements that vectors may read or write beyond the last.
inline constexpr Index kVectorSlack = 8;

/// Spheres in some order; each array is kVectorSlack longer.
struct Spheres {
    Array<double, 2> centres;   ///< [axis, sphere], angstrom
    std::vector<double> reach;  ///< [sphere]: its radius, angstrom
};

/// The spheres from `first` to before `last`.
struct SphereRange {
    Index first = 0, last = 0;
};

/// The spheres that overlap one sphere: point p of length 1 is covered by the n-th if the product
/// of p and `towards` n is larger than `bound` n.
struct Overlaps {
    std::array<std::vector<double>, 3> towards;  ///< [axis][overlap]
    std::vector<double> bound;                   ///< [overlap]
    Index count = 0;
};

/// Finds the spheres of the ranges that overlap sphere `of` and have another centre. Returns the
/// number of those, `of` among them, that have the same centre.
Index find_overlaps(const Spheres& spheres, std::span<const SphereRange> ranges, Index of,
                    Overlaps& overlaps);

/// Writes to `exposed` which `points` [axis, point], of length 1, no overlap covers; they must be
/// whole vectors of kVectorSlack. Returns their number.
Index find_exposed_points(const Overlaps& overlaps, View<const double, 2> points,
                          std::span<std::uint8_t> exposed);

}  // namespace pleat::saxs
