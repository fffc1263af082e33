// Exposed points: which points on a sphere no other sphere covers, by vector instructions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/saxs/model/sphere_cells.h"

namespace pleat::saxs {

/// Elements that vectors may read or write beyond the last.
inline constexpr Index kVectorSlack = 8;

/// Spheres in some order; each array is kVectorSlack longer.
struct Spheres {
    Array<double, 2> centres;   ///< [axis, sphere], angstrom
    std::vector<double> reach;  ///< [sphere]: its radius, angstrom
};

/// Points on a sphere whose exposure is found.
inline constexpr int kSurfacePoints = 128;

/// Which of the points on a sphere are exposed: bit n % 32 of word n / 32 for point n.
struct alignas(16) PointBits {
    static constexpr int kWords = kSurfacePoints / 32;
    std::uint32_t words[kWords] = {};
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

/// Returns which of `points` [axis, kSurfacePoints], of length 1, no overlap covers.
PointBits find_exposed_points(const Overlaps& overlaps, View<const double, 2> points);

}  // namespace pleat::saxs
