// Shuffled planes: the symbols of shuffled columns as bits, eight shuffles side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/mutual_information/count/columns.h"

namespace pleat::mutual_information {

/// Shuffles side by side: one per 64-bit lane of the widest vectors.
constexpr Index kLanes = 8;

/// The layout of the bit planes of a set of columns. The most frequent symbol of a column has no
/// plane: its cells follow by subtraction. A plane has one bit per row: bit r % 64 of word r / 64.
struct PlaneLayout {
    PlaneLayout() = default;
    /// The columns of both blocks, each once.
    PlaneLayout(const CodedColumns& columns, Block first, Block second);

    Index words = 0;             ///< of a plane: row_count / 64, rounded up
    std::vector<Index> columns;  ///< in the order of their planes
    /// [column of the alignment]: its first plane, and its index in `columns`; -1 if not included.
    std::vector<Index> first_bit_plane, position;
    Index planes = 0;  ///< of all columns together

    std::int64_t group_bytes() const { return planes * words * kLanes * 8; }
    /// Bytes of the codes of one column in one shuffle: one byte per row, in whole words.
    Index code_bytes() const { return 64 * words; }
    /// Bytes of the codes of one group of shuffles.
    std::int64_t group_code_bytes() const {
        return static_cast<std::int64_t>(columns.size()) * kLanes * code_bytes();
    }
};

/// Shuffles the columns of a layout for groups of kLanes consecutive shuffles, spread over threads,
/// into `bits`, [group][plane][word][lane]. The first group begins with shuffle `first`. If
/// `codes` is not null, it receives the shuffled codes: [group][column of the
/// layout][lane][code_bytes()].
void shuffle_planes(const CodedColumns& columns, const PlaneLayout& layout, std::uint64_t seed,
                    Index first, Index groups, int threads, std::uint64_t* bits,
                    std::uint8_t* codes = nullptr);

}  // namespace pleat::mutual_information
