// Plane counts: tables of shuffled columns from bit planes, eight shuffles at a time, as sums of F.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pleat/core/array.h"
#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/kernel/null_sums.h"
#include "pleat/mutual_information/kernel/row_counts.h"
#include "pleat/mutual_information/kernel/shuffled_planes.h"
#include "pleat/mutual_information/triples/tiles.h"

namespace pleat::mutual_information {

/// Groups of shuffles of some columns, as shuffle_planes() makes them.
struct PlaneGroups {
    const Columns* columns = nullptr;
    const PlaneLayout* layout = nullptr;
    const Statistic* statistic = nullptr;
    const std::uint64_t* bits = nullptr;  ///< [group][plane][word][lane]
    const std::uint8_t* codes = nullptr;  ///< as shuffle_planes() makes them; null: not made
    Index first = 0, last = 0;            ///< groups to count
    Index shuffles = 0;                   ///< of all groups: the last one may have fewer than lanes

    const std::uint64_t* planes(Index group, Index column) const {
        return bits +
               ((group * layout->planes + layout->first_plane[column]) * layout->words) * kLanes;
    }
    /// Shuffles that a group holds.
    Index valid(Index group) const { return std::min(kLanes, shuffles - group * kLanes); }
};

/// What the lanes gave for one item: one row a member of NullSums.
struct LaneSums {
    alignas(64) std::int64_t rows[6][kLanes];  // less, equal, first, second, third_low, third_high
    void add_to(NullSums& sums, Index item) const;
};

/// T of one pair, compared with its observed value. `largest` is [group][lane], raised where factor
/// is not 0.
struct PairTarget {
    Index i = 0, j = 0;
    std::int64_t observed = 0;
    double centre = 0, factor = 0;
};
void count_pair(const PlaneGroups& groups, const PairTarget& target, double* largest,
                LaneSums& sums);

/// Room for count_triples(), kept by a thread.
struct TripleScratch {
    Array<std::uint64_t, 1> within;  ///< rows of (symbol of i, plane), [symbol][plane][lane]
    Array<std::uint64_t, 1> masked;  ///< planes of j within a symbol of i, [symbol - 1][word][lane]
    Array<std::int64_t, 1> t;        ///< [k][lane]
    RowTables tables;                ///< of triples that are counted row by row
    void fit(Index within_size, Index masked_size, Index t_size);
};

/// The triples of the tile's rows [first_row, last_row), all of one i, added to `sums`, which has
/// an element an item of these rows. `observed` is that of the whole tile.
void count_triples(const PlaneGroups& groups, const TripleTile& tile, Index first_row,
                   Index last_row, View<const std::int64_t, 1> observed, TripleScratch& scratch,
                   LaneSums* sums);

}  // namespace pleat::mutual_information
