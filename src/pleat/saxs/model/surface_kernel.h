// Surface kernel: which points of the spheres of many frames a probe can touch, found on a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "pleat/bio/structure/surfaces.h"
#include "pleat/core/view.h"

namespace pleat::saxs {

/// A sphere at its place in the order of cells.
struct alignas(16) CellSphere {
    float x = 0, y = 0, z = 0;  ///< angstrom
    std::int32_t sphere = 0;    ///< its number in the frame
};

/// Memory of the host for a block of frames, which all have the same spheres.
struct SurfaceBlock {
    View<CellGrid, 1> cell_grids;  ///< [frame]
    View<CellSphere, 2> spheres;   ///< [frame, sphere], in the order of cells
    View<std::int32_t, 2> starts;  ///< [frame, cell + 1]: room for max_cells()
    View<PointBits, 2> exposed;    ///< [frame, sphere], in the order of the frame: the results

    /// Sets the input of one frame: `centres` [axis, sphere] and `reach` [sphere], the radii with
    /// the probe, in angstrom. Several threads may set different frames at a time.
    void set_frame(Index frame, View<const float, 2> centres, std::span<const double> reach) const;
};

/// Finds which of surface_points() are exposed. There are two blocks, so that the host prepares one
/// while the GPU computes the other. One thread may call it. Throws DeviceError.
class SurfaceKernel {
public:
    virtual ~SurfaceKernel() = default;

    /// The frames for which a block has room.
    virtual Index max_frames() const = 0;
    /// Block 0 or 1.
    virtual const SurfaceBlock& block(Index which) const = 0;
    /// Starts computing the first `frames` frames of a block, which must be set. The previously
    /// started block must be finished.
    virtual void start(Index which, Index frames) = 0;
    /// Waits for the block that was started last, and sets `exposed` of its frames.
    virtual void finish() = 0;
};

/// Makes a surface kernel for at most `frames` frames of spheres with this reach, on the GPU with
/// this index. Throws DeviceError if the GPU is missing or out of memory.
std::unique_ptr<SurfaceKernel> make_cuda_surface_kernel(std::span<const double> reach, Index frames,
                                                        int index);

/// Bytes of a block, on the host and on the GPU, unless one frame needs more.
inline constexpr Index kSurfaceBytes = Index{32} << 20;
/// Bytes of one frame of a block.
Index surface_frame_bytes(Index spheres);

}  // namespace pleat::saxs
