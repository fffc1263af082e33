// CPU layout: the sizes of the CPU kernel's arrays, for allocation and for memory estimates.
#pragma once

#include <cstdint>

#include "pleat/core/view.h"

namespace pleat::couplings {

/// Floats per row of `letter_count` letters: 8 for up to 8 letters, else 24. Elements after the
/// last letter are zero in every table.
constexpr int row_stride(int letter_count) { return letter_count <= 8 ? 8 : 24; }

struct CpuLayout {
    Index sequences, columns;
    int letters;

    constexpr Index stride() const { return row_stride(letters); }
    constexpr Index pair_count() const { return columns * (columns - 1) / 2; }
    /// Floats of one pair's block [letter at j][letter at i, padded to the stride].
    constexpr Index block_size() const { return letters * stride(); }
    /// Floats of a vector: fields [column][stride], then the blocks of the pairs.
    constexpr Index field_size() const { return columns * stride(); }
    constexpr Index pair_size() const { return pair_count() * block_size(); }
    constexpr Index vector_size() const { return field_size() + pair_size(); }
    /// Floats of a table [column][letter][stride], and of rows [sequence][stride]; each thread has
    /// two of both.
    constexpr Index table_size() const { return columns * block_size(); }
    constexpr Index row_size() const { return sequences * stride(); }

    /// Bytes of `vectors` vectors and of what `threads` threads work in.
    constexpr std::int64_t bytes(int vectors, int threads) const {
        return 4 * (vectors * vector_size() + threads * 2 * (table_size() + row_size()));
    }
};

}  // namespace pleat::couplings
