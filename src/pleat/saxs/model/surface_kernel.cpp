// Surface kernel: the spheres of a frame, sorted by cells.
#include "pleat/saxs/model/surface_kernel.h"

#include <algorithm>

namespace pleat::saxs {

void SurfaceBlock::set_frame(Index frame, View<const float, 2> centres,
                             std::span<const double> reach) const {
    const SphereCells cells(centres, reach);
    cell_grids[frame] = cells.grid;
    std::ranges::copy(cells.starts, starts[frame].data);
    CellSphere* to = spheres[frame].data;
    for (const std::int32_t sphere : cells.order)
        *to++ = {centres(0, sphere), centres(1, sphere), centres(2, sphere), sphere};
}

Index surface_frame_bytes(Index spheres) {
    return static_cast<Index>(sizeof(CellGrid)) +
           spheres * static_cast<Index>(sizeof(CellSphere) + sizeof(PointBits)) +
           (max_cells(spheres) + 1) * static_cast<Index>(sizeof(std::int32_t));
}

}  // namespace pleat::saxs
