// Pair rows: the rows of two columns in which neither has a letter that is left out.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/mutual_information/count/columns.h"

namespace pleat::mutual_information {

/// A set of letters: bit a is the letter with code a in the alignment.
using LetterSet = std::uint32_t;

constexpr LetterSet letter_set(std::uint8_t letter) { return LetterSet{1} << letter; }

/// Two columns without the rows in which either has an omitted letter (pairwise deletion). Codes
/// are those of the symbols left, in the order of the columns' own codes.
struct PairRows {
    std::vector<std::uint8_t> code_i, code_j;  ///< [row kept]
    std::vector<Index> row;                    ///< [row kept]: its place in the alignment
    std::vector<Index> margin_i, margin_j;     ///< [symbol]: rows kept, at least 1

    void take(const Columns& columns, Index i, Index j, LetterSet omitted);
    Index count() const { return static_cast<Index>(row.size()); }
};

}  // namespace pleat::mutual_information
