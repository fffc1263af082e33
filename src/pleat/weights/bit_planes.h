// Bit planes: the distinct sequences of an alignment, packed so that a word holds 64 columns.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/core/array.h"

namespace pleat::weights {

/// Distinct sequences with each code spread over bit planes: bit c of word k of plane p is bit p of
/// the code in column 64 k + c. Two codes differ if they differ in any plane, so 64 columns of a
/// pair cost one XOR and one OR per plane and one population count.
///
/// Sequences are in groups of eight, the lanes of a 512-bit vector, for every instruction set.
struct BitPlanes {
    static constexpr Index kGroup = 8;

    Array<std::uint64_t, 4> bits;          ///< [group, word, plane, sequence in the group]
    Array<std::uint64_t, 2> multiplicity;  ///< [group, sequence in the group]; 0 in padding
    std::vector<Index> distinct;  ///< [sequence]: number of its distinct sequence, 8 * group + lane

    Index group_count() const { return bits.extent(0); }
    Index word_count() const { return bits.extent(1); }
    int plane_count() const { return static_cast<int>(bits.extent(2)); }
};

/// Packs `letters` [sequence, column]. Equal rows become one with a multiplicity. There are 3, 5 or
/// 8 planes: enough for codes below 8, 32 or 256. Columns are sorted by falling diversity, so that
/// most pairs already differ in the first words; counts of differences do not depend on the order.
BitPlanes pack(View<const std::uint8_t, 2> letters, int threads = 1);

/// A rectangle of pairs of groups, [first_row, last_row) x [first_column, last_column). Only pairs
/// with row <= column are compared.
struct PairTile {
    Index first_row, last_row;
    Index first_column, last_column;
};

}  // namespace pleat::weights
