// Sequence tree: describes each sequence as a few changes of a similar one, so that sums over
// columns can be shared.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::couplings {

/// A forest over the sequences of an alignment. A sum over columns of rows picked by letters,
/// h(n) = sum_j T(j, x_j^n), is h(parent) plus the rows of the letters that differ, minus the
/// parent's own: on real families a third of the additions (the sum over n of min(L, 2 differences)
/// / (N L) is 0.37 for 1atzA). The transposed sum (scattering a row to all its letters) becomes
/// sums over subtrees first, then for each letter the sum of the subtrees where it appears minus
/// those where it disappears. Trees are minimum spanning trees of Hamming distances (Prim) within
/// chunks of consecutive sequences. Every few generations a sequence gets a full sum, so that
/// rounding does not accumulate.
struct SequenceTree {
    /// order[position] = sequence; every parent comes before its children.
    std::vector<std::int32_t> order;
    /// Earlier position, or -1 for a root.
    std::vector<std::int32_t> parent;
    /// rows[begin[k], begin[k + 1]): for a root all its L rows; else the rows to add, then as many
    /// to subtract. A row is (column * letter_count + letter) * row_stride.
    std::vector<std::uint64_t> begin;
    std::vector<std::uint32_t> rows;
    /// The inverse lists, by chunk so that a chunk's sums stay in cache: for list = 2 (chunk *
    /// row_count + row) [+ 1], positions[position_begin[list], position_begin[list + 1]) are the
    /// positions times row_stride at which `row` (without its stride) is added [subtracted].
    Index chunk_count = 0, row_count = 0;
    std::vector<std::uint64_t> position_begin;
    std::vector<std::uint32_t> positions;

    Index count() const { return static_cast<Index>(order.size()); }
    /// Rows read in one pass, relative to the plain double loop (N L).
    double cost(Index column_count) const {
        return static_cast<double>(rows.size()) / (static_cast<double>(count()) * column_count);
    }
};

/// Upper bound in bytes of building and storing a forest.
std::int64_t tree_bytes(Index sequences, Index columns, int letter_count);

/// Builds the forest; the same for any thread count.
SequenceTree build_sequence_tree(View<const std::uint8_t, 2> letters, int letter_count,
                                 int row_stride, int threads);

}  // namespace pleat::couplings
