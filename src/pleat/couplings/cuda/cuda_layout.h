// CUDA layout: the sizes of the CUDA kernel's arrays, for allocation and for memory estimates.
#pragma once

#include <cstdint>

#include "pleat/core/view.h"

namespace pleat::couplings::cuda {

/// Result rows and columns per CTA of the one-hot products, and the step length along the inner
/// index.
constexpr int kTileRows = 128, kTileColumns = 256, kTileDepth = 64;
/// Maximum number of letters, the gap included, in the softmax steps.
constexpr int kMaxLetterCodes = 24;
/// Maximum number of partial sums per column in the softmax passes, and the bytes of one.
constexpr Index kMaxChunks = 16, kPartialBytes = 1208;
/// Number of columns that a CTA of the pair steps processes at a time.
constexpr int kPairColumns = 8;
/// Number of sequences per CTA of the softmax steps.
constexpr int kSequenceTile = 256;

constexpr Index round_up(Index n, Index to) { return (n + to - 1) / to * to; }

/// The gap is not stored: logits are relative to the gap's, and the gap's sums follow from those of
/// the other letters. So a column has `row` letters, q - 1 rounded up to a multiple of 4, and
/// (column, letter) has the flat index column * row + letter.
struct Layout {
    Index sequences, columns;
    int letters;
    int parts = 2;   ///< float16 numbers whose sum represents one number of the operands
    int blocks = 1;  ///< blocks of columns, computed one after the other if not all fit at once

    constexpr int free_letters() const { return letters - 1; }
    constexpr int row() const { return (free_letters() + 3) / 4 * 4; }
    constexpr Index padded_sequences() const { return round_up(sequences, kTileRows); }
    constexpr Index flat() const { return columns * row(); }
    constexpr Index depth() const { return round_up(flat(), kTileDepth); }
    constexpr Index width() const { return round_up(flat(), kTileColumns); }
    /// Columns per block: a multiple of 64, so they fill whole tiles for any number of letters.
    constexpr Index block_columns() const {
        return blocks == 1 ? columns : round_up((columns + blocks - 1) / blocks, 64);
    }
    constexpr Index block_width() const { return round_up(block_columns() * row(), kTileColumns); }
    /// Columns of the letter tiles, including those after the last column that a stage may read.
    constexpr int letter_columns() const {
        return static_cast<int>(columns) + kTileRows / row() + 3;
    }
    /// At least 1, even without sequences, because estimates precede input checks.
    constexpr Index chunk() const {
        const Index size = (sequences + kMaxChunks - 1) / kMaxChunks;
        return round_up(size > 0 ? size : 1, 4 * kSequenceTile);
    }
    constexpr Index chunks() const { return (sequences + chunk() - 1) / chunk(); }
    constexpr Index sequence_tiles() const {
        return (padded_sequences() + kSequenceTile - 1) / kSequenceTile;
    }
    constexpr Index pair_tiles() const { return (columns + kPairColumns - 1) / kPairColumns; }
    constexpr Index fields() const { return columns * letters; }
    constexpr Index pairs() const { return columns * (columns - 1) / 2 * letters * letters; }

    constexpr Index dense_size() const { return parts * block_width() * depth(); }
    constexpr Index product_size() const {
        return (blocks == 1 ? 1 : 2) * block_width() * block_width();
    }
    constexpr Index residual_size() const { return parts * width() * padded_sequences(); }
    constexpr Index letter_size() const { return padded_sequences() * letter_columns(); }

    /// Device bytes with this many vectors.
    constexpr std::int64_t bytes(int vectors) const {
        const std::int64_t vector_bytes = 4 * vectors * (fields() + pairs());
        const std::int64_t operands = 2 * (dense_size() + residual_size() + letter_size());
        const std::int64_t results = 4 * (product_size() + width() * padded_sequences());
        const std::int64_t sums = 4 * pair_tiles() * block_width() +
                                  4 * sequence_tiles() * width() + 16 * pair_tiles() * columns +
                                  kPartialBytes * chunks() * columns;
        return vector_bytes + operands + results + sums + 4 * padded_sequences();
    }
};

/// Device bytes of a fit besides its layout: the alignment while it is copied, the scores, and the
/// rounding of allocations.
constexpr std::int64_t extra_bytes(const Layout& layout) {
    return layout.sequences * layout.columns + 8 * layout.columns * layout.columns +
           (std::int64_t{64} << 20);
}

/// The layout with the fewest blocks that fits into `available` bytes, or the smallest there is.
constexpr Layout fit_layout(Layout layout, int vectors, std::int64_t available) {
    Layout smallest = layout;
    for (const int blocks : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
        if (blocks > 1 && (layout.columns + blocks - 1) / blocks <= 64) break;
        layout.blocks = blocks;
        if (layout.bytes(vectors) + extra_bytes(layout) <= available) return layout;
        if (layout.bytes(vectors) < smallest.bytes(vectors)) smallest = layout;
    }
    return smallest;
}

/// Device bytes of a fit with this layout, as reported before the fit.
constexpr std::int64_t bytes_needed(const Layout& layout, int vectors) {
    return layout.bytes(vectors) + extra_bytes(layout);
}

}  // namespace pleat::couplings::cuda
