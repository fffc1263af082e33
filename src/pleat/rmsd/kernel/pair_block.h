// Pair block: packed frames, and the product and the solver of rows and a panel of columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

/// Number of frames in a panel, side by side, one per lane.
inline constexpr Index kPanel = 16;

/// Frames p = m + a, turned onto a common structure m first. The covariance of a pair is
///     sum p q' = (sum m m' / 2 + sum a_p m') + (sum m m' / 2 + sum m a_q') + sum a_p a_q':
/// two terms that depend on one frame each, exact in float64, and a product of deviations. Float32
/// has all the digits wanted there, since its rounding is in proportion to how far frames are from
/// m, no longer to the size of the molecule. In float64 m is 0 and a is p.
template <class Real>
struct Packed {
    Index frames = 0, atoms = 0;
    double weight = 0.0;
    Array<Real, 3> rows;     ///< [frame, atom, axis]: a, with frames of zeros up to whole panels
    Array<Real, 4> columns;  ///< [panel, atom, axis, lane]: the same
    Array<double, 2> row_terms;       ///< [frame, 9]: what p adds to the covariance
    Array<double, 3> column_terms;    ///< [panel, 9, lane]: what q adds
    Array<double, 1> square_sum;      ///< [frame]: sum of squares of the packed p
    Array<double, 1> inverse_norm;    ///< [frame]: 1 / root of `square_sum`; 0 where that is 0
    Array<double, 1> deviation_norm;  ///< [frame]: root of the sum of squares of a
};

/// The panels that hold the frames of a block.
struct PanelSpan {
    Index first, panels;
    explicit PanelSpan(Block block)
        : first(block.first / kPanel),
          panels((block.first + block.count + kPanel - 1) / kPanel - first) {}
};

/// Frames side by side, one per lane: [panel, atom, axis, lane]. Lanes beyond the last frame repeat
/// it. `at(frame, atom, axis)` is a coordinate.
template <class At>
Array<double, 4> frame_panels(Index frames, Index atoms, const At& at) {
    auto panels = Array<double, 4>::unset((frames + kPanel - 1) / kPanel, atoms, Index{3}, kPanel);
    for (Index i = 0; i < panels.extent(0) * kPanel; ++i)
        for (Index k = 0; k < atoms; ++k)
            for (int axis = 0; axis < 3; ++axis)
                panels(i / kPanel, k, axis, i % kPanel) = at(std::min(i, frames - 1), k, axis);
    return panels;
}

/// Rows that share a panel's coordinates in the cache.
inline constexpr Index kBlockRows = 48;

/// Working memory of a thread for a block.
struct BlockScratch {
    Array<double, 3> covariance{kBlockRows, Index{9}, kPanel};
    Array<float, 2> rmsd{kBlockRows, kPanel};
    /// Pairs (row, lane of the panel) whose value is not certain to `tolerance` and must be
    /// computed from the coordinates.
    std::vector<std::pair<Index, Index>> doubtful;
};

/// Computes the RMSD of up to kBlockRows rows with the frames of a panel into `scratch.rmsd`, and
/// lists doubtful pairs. `tolerance`: angstrom. Rows and lanes beyond the frames are undefined.
void rmsd_block(const Packed<float>& packed, Block rows, Index panel, double tolerance,
                BlockScratch& scratch);
void rmsd_block(const Packed<double>& packed, Block rows, Index panel, double tolerance,
                BlockScratch& scratch);

struct FramePair {
    Index i, j;
};

/// RMSD of up to kPanel pairs in float64, from the frames themselves. Returns one bit per pair,
/// set if it is still doubtful.
std::uint32_t rmsd_pairs(const Frames& frames, const FramePair* pairs, int count, double tolerance,
                         float* rmsd);

}  // namespace pleat::rmsd
