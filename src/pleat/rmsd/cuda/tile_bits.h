// Tile bits: which pairs are neighbours, one bit each, in squares of 32 by 32 frames.
#pragma once

#include <cstdint>

#include "pleat/core/cuda/host_device.h"
#include "pleat/core/view.h"

namespace pleat::rmsd {

inline constexpr int kBitSide = 32;

/// Squares (I, J), J >= I, in the order (0, 0), (0, 1), ..., (1, 1), ...: a word for each row of
/// the square, in which bit c is the pair with column 32 J + c, for pairs i < j only. A row's words
/// are 128 bytes apart; a column's lie in one such line for 32 rows.
struct BitTiles {
    unsigned* words;
    Index side;  ///< squares along an edge

    PLEAT_HOST_DEVICE static constexpr Index squares(Index side) { return side * (side + 1) / 2; }
    PLEAT_HOST_DEVICE Index first_word(Index row, Index column) const {
        return (row * side - row * (row - 1) / 2 + column - row) * kBitSide;
    }
    /// The word with the bits of frame i and the 32 frames of square `column`, which is at least i
    /// / 32.
    PLEAT_HOST_DEVICE unsigned& word(Index i, Index column) const {
        return words[first_word(i / kBitSide, column) + i % kBitSide];
    }
};

/// Bytes of the bits of all pairs, and of the other arrays that clustering keeps for each frame.
PLEAT_HOST_DEVICE constexpr std::int64_t bit_memory(Index frames) {
    const Index side = (frames + kBitSide - 1) / kBitSide;
    return BitTiles::squares(side) * kBitSide * 4 + 20 * side * kBitSide;
}

}  // namespace pleat::rmsd
