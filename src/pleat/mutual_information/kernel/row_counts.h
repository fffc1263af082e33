// Row counts: triples of shuffled columns counted row by row, for tables with more cells than rows.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/count/tiles.h"
#include "pleat/mutual_information/kernel/shuffled_planes.h"

namespace pleat::mutual_information {

/// Whether counting the triples of this row of a tile row by row is estimated to be faster than by
/// bit planes. Both give the same integers.
bool counts_by_rows(const CodedColumns& columns, const TripleTile::Row& row);

/// Maximum bytes of the codes of a tile's columns, in all groups of a batch; 0 if triples of
/// columns with this many symbols are never counted row by row.
std::int64_t codes_bytes(Index rows, int symbols);

struct GroupCodes {
    const CodedColumns* columns = nullptr;
    const PlaneLayout* layout = nullptr;
    const Statistic* statistic = nullptr;
    const std::uint8_t* codes = nullptr;  ///< [column of the layout][lane][code_bytes()]
};

/// Counts into tables that a thread reuses. Not thread-safe.
class RowTables {
public:
    /// T of the triples of one row of a tile (one i, sorted by code, and one shuffled j), into `t`,
    /// [k][lane].
    void count(const GroupCodes& group, const TripleTile::Row& row, std::int64_t* t);

private:
    /// A row of the alignment, and the first cell of its pair of symbols in `cells_`.
    struct Entry {
        std::uint32_t row, first_cell;
    };
    void list_shared_rows(const CodedColumns& columns, const TripleTile::Row& row,
                          const std::uint8_t* j);

    std::vector<std::int64_t> f_steps_;               // [n]: F(n + 1) - F(n)
    std::vector<std::uint16_t> symbol_pair_of_row_;   // [row]: its pair of symbols of i and j
    std::vector<std::uint32_t> rows_of_symbol_pair_;  // [pair of symbols]: its rows
    std::vector<std::uint32_t> first_cell_;           // [pair of symbols]: its first cell
    std::vector<std::uint16_t> cells_;                // counts of (i, j, k), zero between two calls
    std::vector<Entry> shared_rows_;
};

}  // namespace pleat::mutual_information
