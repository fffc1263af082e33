// Pair block: the product and the solver of a block of rows and a panel of columns.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "pleat/rmsd/kernel/packed.h"

namespace pleat::rmsd {

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

/// RMSD of rows.first, ... (up to kBlockRows) with the frames of a panel, into `scratch.rmsd`; the
/// doubtful ones are listed. `tolerance` in angstrom. Rows and lanes beyond the frames have no
/// meaning.
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
