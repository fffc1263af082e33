// Sphere cells: spheres sorted into cubes of a grid, so that those that overlap one are found fast.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/cuda/host_device.h"
#include "pleat/core/view.h"

namespace pleat::saxs {

/// The spheres from `first` to before `last`, in the order of cells.
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
    struct Near {
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
    PLEAT_HOST_DEVICE Near near(const double* centre) const {
        Near cells;
        for (int axis = 0; axis < 3; ++axis) {
            const auto cell = static_cast<std::int32_t>(index(centre[axis], axis));
            cells.first[axis] = cell > 0 ? cell - 1 : 0;
            cells.last[axis] = cell + 1 < extent[axis] ? cell + 1 : extent[axis] - 1;
        }
        return cells;
    }
    /// The n-th range of spheres in the cells; `starts` [cell + 1]: the first sphere of each cell,
    /// and after the last one the number of spheres.
    PLEAT_HOST_DEVICE SphereRange range(const Near& cells, std::int32_t n,
                                        const std::int32_t* starts) const {
        const std::int32_t rows = cells.last[1] - cells.first[1] + 1;
        const Index x = cells.first[0] + n / rows, y = cells.first[1] + n % rows;
        // Cells that follow one another in z are neighbours in memory.
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

    /// `centres` [axis, sphere] and `reach` [sphere], the radii with the probe, in angstrom; there
    /// must be a sphere.
    SphereCells(View<const float, 2> centres, std::span<const double> reach);
};

}  // namespace pleat::saxs
