// Matrix: the tiles of all pairs, and their file as one condensed or full array.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "pleat/core/loops/tile_file.h"

namespace pleat::rmsd {

/// Bands of about `pairs` pairs, in whole steps of `step` rows.
std::vector<Tile> bands(Index frames, Index pairs, Index step);

/// Writes the complete tiles as .npy, float32: [pair], or with `full` [frame, frame], which
/// has `of_equals` on its diagonal.
void write_matrix(const std::filesystem::path& path, Index frames, std::span<const Tile> tiles,
                  const TileFile& file, bool full, float of_equals = 0.0f);

/// Completes a full matrix in memory [frame, frame] whose rows have the pairs with later frames
/// only: sets the other pairs and the diagonal.
void complete_full(float* matrix, Index frames, int threads, float of_equals);

}  // namespace pleat::rmsd
