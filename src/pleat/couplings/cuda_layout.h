// How the CUDA kernel lays out its arrays, and the bytes they take: plain numbers, for every build.
#pragma once

#include <cstdint>

#include "pleat/core/view.h"

namespace pleat::couplings::cuda {

/// A CTA of the one-hot products makes this many rows and columns of the result.
constexpr int kTileRows = 384, kTileColumns = 96;
/// Sequences of one partial sum of the softmax passes, and the bytes of one.
constexpr Index kSequenceChunk = 1024, kPartialBytes = 1304;
/// The Gram matrix of the letters but the gap has one thread an element, 256 at most.
constexpr int kMostLetterCodes = 23;

constexpr Index round_up(Index n, Index to) { return (n + to - 1) / to * to; }

/// Rows are (letter, column) in `row` letters a column, of which `letters` count.
struct Layout {
    Index sequences, columns;
    int letters;

    constexpr int row() const { return letters <= 8 ? 8 : 24; }
    constexpr Index padded_sequences() const { return round_up(sequences, kTileRows); }
    constexpr Index padded_columns() const { return round_up(columns, kTileRows / row()); }
    /// Rows of the dense operand and of the second product.
    constexpr Index operand_rows() const { return padded_columns() * row(); }
    /// Elements from one row to the next.
    constexpr Index pitch() const { return round_up(columns * row(), kTileColumns); }
    constexpr Index chunks() const { return (sequences + kSequenceChunk - 1) / kSequenceChunk; }
    constexpr Index fields() const { return columns * letters; }
    constexpr Index pairs() const { return columns * (columns - 1) / 2 * letters * letters; }

    /// Bytes on the device with this many slots.
    constexpr std::int64_t bytes(int slots) const {
        const std::int64_t vectors = 4 * slots * (fields() + pairs());
        const std::int64_t dense = 8 * operand_rows() * pitch();       // two bf16 parts, products
        const std::int64_t logits = 8 * padded_sequences() * pitch();  // sums, two bf16 residuals
        const std::int64_t letters_kept = padded_sequences() * (2 * padded_columns() + columns + 4);
        return vectors + dense + logits + letters_kept + kPartialBytes * chunks() * columns;
    }
};

}  // namespace pleat::couplings::cuda
