// Tile bits: which pairs are neighbours, one bit each, in squares of 32 by 32 frames.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pleat/core/cuda/host_device.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/core/view.h"

namespace pleat::rmsd {

inline constexpr int kBitSide = 32;

/// Squares (I, J), J >= I: a word for each row of the square, in which bit c is the pair with
/// column 32 J + c, for pairs i < j only. The squares of a row I lie one after the other, and rows
/// may lie on several GPUs. A row's words are 128 bytes apart; a column's lie in one such line for
/// 32 rows.
struct BitTiles {
    unsigned* const* rows;  ///< [I]: square (I, I); null if the row lies elsewhere
    Index side;             ///< squares along an edge

    PLEAT_HOST_DEVICE bool has(Index row) const { return rows[row] != nullptr; }
    /// The 32 words of a square.
    PLEAT_HOST_DEVICE unsigned* square(Index row, Index column) const {
        return rows[row] + (column - row) * kBitSide;
    }
    /// The word with the bits of frame i and the 32 frames of square `column`, which is at least i
    /// / 32.
    PLEAT_HOST_DEVICE unsigned& word(Index i, Index column) const {
        return square(i / kBitSide, column)[i % kBitSide];
    }
};

/// One of several GPUs that divide the rows of the bits among them.
struct BitShare {
    int part = 0, parts = 1;
};

/// Rows of bits, in whole tiles, that one part finds and keeps.
struct BitBand {
    Block rows;  ///< frames
    int part = 0;
};
/// Divides all rows into bands of about equally many pairs, and gives each to the part that has the
/// fewest squares so far.
std::vector<BitBand> deal_bits(Index frames, int parts);

constexpr Index bit_side(Index frames) { return (frames + kBitSide - 1) / kBitSide; }
/// Squares of these rows, which begin with a square.
constexpr Index squares_of(Block rows, Index frames) {
    const Index side = bit_side(frames), first = rows.first / kBitSide,
                end = bit_side(rows.first + rows.count);
    return (end - first) * side - (end * (end - 1) - first * (first - 1)) / 2;
}
/// The most bytes of bits that deal_bits() gives to one of the parts, and of the other arrays that
/// clustering keeps for each frame.
std::int64_t bit_memory(Index frames, int parts = 1);

}  // namespace pleat::rmsd
