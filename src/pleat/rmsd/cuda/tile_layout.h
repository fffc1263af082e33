// Tile layout: how the deviations of frames lie in memory for the GPU's products of tiles.
#pragma once

#include <cstdint>

#include "pleat/core/cuda/host_device.h"
#include "pleat/core/view.h"

namespace pleat::rmsd {

/// How deviations are rounded and multiplied.
enum class TileFormat {
    floats,  ///< float32 by fused multiply-adds
    halves,  ///< float16 and its remainder, three products on tensor cores
    half     ///< float16 alone, one product on tensor cores: coarse, to decide most pairs
};

/// Frames come in panels, atoms in chunks, both padded with zeros. A tile of pairs has the frames
/// of two panels as rows and those of one as columns; a CTA works on it.
inline constexpr int kPanelFrames = 32, kRowPanels = 2, kTileRows = kRowPanels * kPanelFrames;
inline constexpr int kChunkAtoms = 16, kTileThreads = 256, kPairsOfThread = 8;

/// Atoms after which float32 sums are put aside, so that their rounding stays small.
inline constexpr Index kSegmentAtoms = 256;

/// Numbers of 16 bytes in one chunk of one panel:
///     floats: float32 [atom 16][axis 3][frame 32]
///     halves: float16 [half panel 2][axis 3][part][lane 32][8], part 0 the float16, 1 its
///     remainder,
/// where a lane's eight are those of the first operand of mma.m16n8k16: see half_offset().
PLEAT_HOST_DEVICE constexpr int chunk_words(TileFormat format) {
    return format == TileFormat::half ? 192 : 384;
}

PLEAT_HOST_DEVICE constexpr int parts_of(TileFormat format) {
    return format == TileFormat::halves ? 2 : 1;
}

/// Offset of a number among the float16 of a chunk. Lane 4 g + t has of rows g and g + 8 the
/// elements 2 t, 2 t + 1 and 2 t + 8, 2 t + 9; columns of the second operand lie the same way.
PLEAT_HOST_DEVICE constexpr int half_offset(int frame, int atom, int axis, int part, int parts) {
    const int row = frame % 16, lane = 4 * (row % 8) + atom % 8 / 2;
    const int in_lane = 2 * (row / 8 + 2 * (atom / 8)) + atom % 2;
    return (((frame / 16 * 3 + axis) * parts + part) * 32 + lane) * 8 + in_lane;
}

/// Offset of a number among the float32 of a chunk.
PLEAT_HOST_DEVICE constexpr int float_offset(int frame, int atom, int axis) {
    return (atom * 3 + axis) * kPanelFrames + frame;
}

}  // namespace pleat::rmsd
