// Surfaces: the points on spheres that a probe can touch.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/cuda/host_device.h"
#include "pleat/core/view.h"

namespace pleat {

/// The spheres [first, last) in the order of cells.
struct SphereRange {
    Index first = 0, last = 0;
};

/// A grid of cubes as wide as the longest reach of two spheres, or wider: the spheres that overlap
/// one are in the 27 cells about its centre, which are up to nine ranges of spheres in the order of
/// cells. That order is by x, then y, then z.
struct CellGrid {
    double origin[3] = {}, width = 0;  ///< angstrom
    std::int32_t extent[3] = {};       ///< cells along each axis

    /// The cells about a point: those from `first` to `last` along each axis.
    struct NearCells {
        std::int32_t first[3] = {}, last[3] = {};
        /// The number of ranges of spheres.
        PLEAT_HOST_DEVICE std::int32_t count() const {
            return (last[0] - first[0] + 1) * (last[1] - first[1] + 1);
        }
    };

    Index cell_count() const { return Index{extent[0]} * extent[1] * extent[2]; }
    PLEAT_HOST_DEVICE Index index(double x, int axis) const {
        const auto cell = static_cast<Index>((x - origin[axis]) / width);
        return cell < 0 ? 0 : cell < extent[axis] ? cell : extent[axis] - 1;
    }
    PLEAT_HOST_DEVICE NearCells near(const double* centre) const {
        NearCells cells;
        for (int axis = 0; axis < 3; ++axis) {
            const auto cell = static_cast<std::int32_t>(index(centre[axis], axis));
            cells.first[axis] = cell > 0 ? cell - 1 : 0;
            cells.last[axis] = cell + 1 < extent[axis] ? cell + 1 : extent[axis] - 1;
        }
        return cells;
    }
    /// The n-th range of spheres in the cells; `starts` [cell + 1]: the first sphere of each cell,
    /// and after the last one the number of spheres.
    PLEAT_HOST_DEVICE SphereRange range(const NearCells& cells, std::int32_t n,
                                        const std::int32_t* starts) const {
        const std::int32_t rows = cells.last[1] - cells.first[1] + 1;
        const Index x = cells.first[0] + n / rows, y = cells.first[1] + n % rows;
        // Cells that are consecutive in z are adjacent in memory.
        const std::int32_t* const row = starts + (x * extent[1] + y) * extent[2];
        return {row[cells.first[2]], row[cells.last[2] + 1]};
    }
};

/// An upper bound of the cells of a grid of `spheres` spheres.
inline constexpr Index max_cells(Index spheres) { return 8 * spheres + 64; }

/// The spheres of one frame in the order of cells.
struct SphereCells {
    CellGrid grid;
    std::vector<std::int32_t> starts;  ///< [cell + 1], as CellGrid::range() needs them
    std::vector<std::int32_t> order;   ///< [n]: the number of the n-th sphere in the order of cells

    /// `centres` [axis, sphere] and `reach` [sphere] (radii including the probe) in angstrom; needs
    /// at least one sphere.
    SphereCells(View<const float, 2> centres, std::span<const double> reach);
};

/// Elements that vectors may read or write beyond the last.
inline constexpr Index kVectorSlack = 8;

/// Spheres in some order; each array has kVectorSlack additional elements.
struct Spheres {
    Array<double, 2> centres;   ///< [axis, sphere], angstrom
    std::vector<double> reach;  ///< [sphere]: its radius, angstrom
};

/// Number of points on a sphere whose exposure is computed.
inline constexpr int kSurfacePoints = 128;

/// The exposed points of a sphere: bit n % 32 of word n / 32 is point n.
struct alignas(16) PointBits {
    static constexpr int kWords = kSurfacePoints / 32;
    std::uint32_t words[kWords] = {};
};

/// The spheres that overlap one sphere: point p of length 1 is covered by the n-th if the product
/// of p and `overlap_directions` n is larger than `bound` n.
struct Overlaps {
    std::array<std::vector<double>, 3> overlap_directions;  ///< [axis][overlap]
    std::vector<double> bound;                              ///< [overlap]
    Index count = 0;
};

/// The exposed surface of a sphere.
struct Exposure {
    float fraction = 0;  ///< from 0 to 1
    float direction[3] =
        {};  ///< mean of the directions from the centre, each of length 1; 0 if none
};

/// `count` evenly spread points on a sphere of radius 1, along a golden spiral: [axis, point].
Array<double, 2> surface_points(Index count = kSurfacePoints);

/// The surface of a sphere with these exposed points of surface_points().
Exposure exposure_of(const PointBits& exposed, View<const double, 2> points);

/// The exposed surfaces of spheres at `centres` [axis, sphere] with these radii plus `probe`, all
/// in angstrom: the points of surface_points() outside all other spheres (Shrake and Rupley, J.
/// Mol. Biol. 79:351, 1973). Of several spheres with the same centre only the largest (the first if
/// equal) is exposed. Memory: 60 bytes per sphere and 4 per grid cell, at most 8 cells per sphere.
/// Throws Cancelled.
std::vector<Exposure> exposures(View<const float, 2> centres, std::span<const double> radii,
                                double probe, const Context& context);

/// The exposed fractions, from 0 to 1, of the same spheres, by surface_points(kFinePoints).
inline constexpr Index kFinePoints = Index{8} * kSurfacePoints;
std::vector<double> exposed_fractions(View<const float, 2> centres, std::span<const double> radii,
                                      double probe, const Context& context);

}  // namespace pleat
