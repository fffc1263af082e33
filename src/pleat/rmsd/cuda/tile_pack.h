// Tile pack: an ensemble as deviations from its common structure, laid out for the GPU's tiles.
#pragma once

#include <vector>

#include "pleat/core/loops/sweep.h"
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

/// Packs an ensemble, all at once or some panels after the other.
class TilePacker {
public:
    /// `sample`: averaged_frames() of the ensemble, from whose mean all frames deviate.
    TilePacker(const Frames& sample, TileFormat format, int threads);

    /// Packs these frames of `frames`; `pack` keeps its memory from call to call.
    void pack(const Frames& frames, Block some, int threads, TilePack& pack) const;

    Index chunks() const { return chunks_; }
    const SolverScale& scale() const { return scale_; }
    /// Frames in whole panels whose operands take about 64 MiB.
    Index frames_at_once() const;

private:
    void pack_frame(const double* frame, Index n, TilePack& pack) const;

    TileFormat format_;
    Index chunks_ = 0;
    std::vector<double> m_;  ///< the mean, in units of the pack
    double unit_ = 1.0;
    double common_[9] = {};
    SolverScale scale_;
};

/// All frames at once.
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
