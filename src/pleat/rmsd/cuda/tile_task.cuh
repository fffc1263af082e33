// Tile task: the arguments of the kernels of a band of rows.
#pragma once

#include "pleat/core/loops/sweep.h"
#include "pleat/rmsd/cuda/tile_layout.h"
#include "pleat/rmsd/cuda/tile_solver.h"

namespace pleat::rmsd::cuda {

struct alignas(16) Words {
    std::uint32_t x, y, z, w;
};

/// A pair of frames in ascending order.
struct DoubtfulPair {
    std::uint32_t i, j;
};

/// Pairs whose float32 value is not certain: the first `*count` of `pairs`, up to `capacity`. Any
/// further pairs are recomputed at once by the thread that finds them.
struct Doubts {
    DoubtfulPair* pairs;
    unsigned* count;
    unsigned capacity;
};

/// Rows of a band with all later frames. `operands`, `terms`: a TilePack's; `xyz`: frames in
/// float64, [frame, axis, atom], and `weight` the divisor of their squares.
struct TileTask {
    const Words* operands;
    const FrameTerms* terms;
    const double* xyz;
    Index frames, atoms, panels, chunks;
    double weight;
    SolverScale scale;
    Block rows;
    Index first_panel, row_tiles;  ///< of the rows
    Doubts doubts;
};

}  // namespace pleat::rmsd::cuda
