// Matrix: the tiles of all pairs, and their file as one condensed or full array.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "pleat/core/loops/tile_file.h"

namespace pleat::rmsd {

/// Divides the rows into bands of about `pairs` pairs; the number of rows of a band is a multiple
/// of `step`.
std::vector<Tile> bands(Index frames, Index pairs, Index step);

/// Writes the complete tiles as .npy, float32: [pair], or with `full` [frame, frame], which
/// has `value_of_equal_structures` on its diagonal.
void write_matrix(const std::filesystem::path& path, Index frames, std::span<const Tile> tiles,
                  const TileFile& file, bool full, float value_of_equal_structures = 0.0f);

/// Writes the complete tiles of two sets, each [row, other] of some rows, as .npy [frame, other].
void write_rectangle(const std::filesystem::path& path, Index frames, Index others,
                     std::span<const Tile> tiles, const TileFile& file);

/// Completes a full matrix in memory [frame, frame] whose rows have the pairs with later frames
/// only: sets the other pairs and the diagonal.
void complete_full(float* matrix, Index frames, int threads, float value_of_equal_structures);

}  // namespace pleat::rmsd
