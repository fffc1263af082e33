// Columns: the columns of an alignment, each with its own symbols.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/array.h"

namespace pleat::mutual_information {

/// Letters of the largest alphabet: an upper bound of the symbols of a column.
constexpr int kMaxSymbols = 32;

/// The columns of an alignment, compacted to the symbols that occur in each: code 0 is the most
/// frequent symbol of its column, code 1 the next, and so on; of equally frequent symbols the one
/// with the smaller letter code comes first.
struct CodedColumns {
    Array<std::uint8_t, 2> codes;       ///< [column, row]
    std::vector<Index> first_symbol;    ///< [column_count + 1]: a column's first symbol
    std::vector<Index> counts;          ///< [symbol]: its number of rows in its column
    std::vector<std::uint8_t> letters;  ///< [symbol]: its letter code in the alignment

    Index column_count() const { return codes.extent(0); }
    Index row_count() const { return codes.extent(1); }
    int symbol_count(Index column) const {
        return static_cast<int>(first_symbol[column + 1] - first_symbol[column]);
    }
    /// The number of rows with each symbol of the column, most frequent first; they sum to
    /// row_count().
    std::span<const Index> margin(Index column) const {
        return {counts.data() + first_symbol[column],
                static_cast<std::size_t>(symbol_count(column))};
    }
};

/// Compacts `letters`, [sequence, column], with codes below kMaxSymbols.
CodedColumns compact_columns(View<const std::uint8_t, 2> letters);

/// Entropy in bits of counts that sum to `rows`: lg rows - (1/rows) sum n lg n.
double entropy(std::span<const Index> counts, Index rows);

/// Position of the pair i < j in the lexicographic list of all pairs of `columns` columns.
constexpr Index pair_index(Index i, Index j, Index columns) {
    return i * (2 * columns - i - 1) / 2 + (j - i - 1);
}
constexpr Index pair_count(Index columns) { return columns * (columns - 1) / 2; }
constexpr Index triple_count(Index columns) {
    return columns * (columns - 1) / 2 * (columns - 2) / 3;
}

}  // namespace pleat::mutual_information
