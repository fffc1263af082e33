// Matrix: the tiles of all pairs, and their file as one condensed or full array.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "pleat/core/tile_file.h"

namespace pleat::rmsd {

/// Bands of rows, each with all later frames; one after another they are the condensed matrix.
std::vector<Tile> bands(Index frames);

/// Writes the complete tiles as .npy, float32: [pair], or with `full` [frame, frame].
void write_matrix(const std::filesystem::path& path, Index frames, std::span<const Tile> tiles,
                  const TileFile& file, bool full);

}  // namespace pleat::rmsd
