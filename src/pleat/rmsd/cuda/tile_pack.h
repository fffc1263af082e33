// Tile pack: an ensemble as deviations from its common structure, laid out for the GPU's tiles.
#pragma once

#include <vector>

#include "pleat/rmsd/cuda/tile_layout.h"
#include "pleat/rmsd/cuda/tile_solver.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

/// Coordinates are multiplied by a power of two, so that deviations are near 1 in size.
struct TilePack {
    TileFormat format = TileFormat::floats;
    Index frames = 0, panels = 0, chunks = 0;
    std::vector<std::uint32_t> operands;  ///< [panel, chunk, 4 chunk_words(format)]
    std::vector<FrameTerms> terms;        ///< [frame, up to whole panels]
    SolverScale scale;
};

TilePack pack_tiles(const Frames& frames, TileFormat format, int threads);

/// Maximum number of doubtful pairs in the list for recomputation in float64.
inline constexpr Index kMaxDoubtfulPairs = Index{1} << 25;

/// Bytes that an ensemble needs on a GPU: packed, in float64, and a list of doubtful pairs.
std::int64_t tile_memory(Index frames, Index atoms, TileFormat format);

/// The error of the sum that superposition reaches, in units of both spreads, after additions of
/// `atoms` products in float32 (see packed product of the CPU, pair_block.cpp), or as tensor cores
/// add, which truncate to float32.
float product_error(TileFormat format, Index atoms);

}  // namespace pleat::rmsd
