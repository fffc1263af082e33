// Sphere cells: a grid for one frame, whose cells are wider for sparse structures.
#include "pleat/saxs/model/sphere_cells.h"

#include <algorithm>
#include <cmath>

namespace pleat::saxs {

namespace {

CellGrid make_grid(View<const float, 2> centres, std::span<const double> reach) {
    const Index count = centres.extent(1);
    CellGrid grid;
    double span[3];
    for (int axis = 0; axis < 3; ++axis) {
        const float* const x = centres[axis].data;
        const auto [smallest, largest] = std::minmax_element(x, x + count);
        grid.origin[axis] = static_cast<double>(*smallest);
        span[axis] = static_cast<double>(*largest) - grid.origin[axis];
    }
    grid.width = 2 * *std::max_element(reach.begin(), reach.end());
    const auto cells = [&] {
        double product = 1;
        for (const double side : span) product *= std::floor(side / grid.width) + 1;
        return product;
    };
    // Wider cells for sparse structures save memory.
    while (cells() > static_cast<double>(max_cells(count))) grid.width *= 1.5;
    for (int axis = 0; axis < 3; ++axis)
        grid.extent[axis] = static_cast<std::int32_t>(span[axis] / grid.width) + 1;
    return grid;
}

}  // namespace

SphereCells::SphereCells(View<const float, 2> centres, std::span<const double> reach)
    : grid(make_grid(centres, reach)) {
    const Index count = centres.extent(1);
    std::vector<std::size_t> cell_of(static_cast<std::size_t>(count));
    starts.assign(static_cast<std::size_t>(grid.cell_count()) + 1, 0);
    for (Index i = 0; i < count; ++i) {
        const Index x = grid.index(static_cast<double>(centres(0, i)), 0),
                    y = grid.index(static_cast<double>(centres(1, i)), 1),
                    z = grid.index(static_cast<double>(centres(2, i)), 2);
        const auto cell = static_cast<std::size_t>((x * grid.extent[1] + y) * grid.extent[2] + z);
        cell_of[static_cast<std::size_t>(i)] = cell;
        ++starts[cell + 1];
    }
    for (std::size_t c = 1; c < starts.size(); ++c) starts[c] += starts[c - 1];
    order.resize(static_cast<std::size_t>(count));
    std::vector<std::int32_t> next(starts.begin(), starts.end() - 1);
    for (Index i = 0; i < count; ++i)
        order[static_cast<std::size_t>(next[cell_of[static_cast<std::size_t>(i)]]++)] =
            static_cast<std::int32_t>(i);
}

}  // namespace pleat::saxs
