// Plane counts: sums of F over the tables of shuffled columns, from bit planes of eight shuffles.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pleat/core/array.h"
#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/count/tiles.h"
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/kernel/row_counts.h"
#include "pleat/mutual_information/kernel/shuffled_planes.h"

namespace pleat::mutual_information {

/// Groups of shuffles of some columns, as made by shuffle_planes().
struct PlaneGroups {
    const CodedColumns* columns = nullptr;
    const PlaneLayout* layout = nullptr;
    const Statistic* statistic = nullptr;
    const std::uint64_t* bits = nullptr;  ///< [group][plane][word][lane]
    const std::uint8_t* codes = nullptr;  ///< as shuffle_planes() makes them; may be null
    Index first = 0, last = 0;            ///< groups to count
    Index shuffles = 0;  ///< of all groups; the last group may have fewer than kLanes

    const std::uint64_t* planes(Index group, Index column) const {
        return bits + ((group * layout->planes + layout->first_bit_plane[column]) * layout->words) *
                          kLanes;
    }
    Index shuffles_in(Index group) const { return std::min(kLanes, shuffles - group * kLanes); }
};

/// The sums of one item by lane: one row per member of NullSums.
struct SumsByLane {
    alignas(64) std::int64_t rows[6][kLanes];  // less, equal, first, second, third_low, third_high
    void add_to(NullSums& sums, Index item) const;
};

/// A pair to count, with its observed T.
struct PairTarget {
    Index i = 0, j = 0;
    std::int64_t observed = 0;
    double z_centre = 0, z_factor = 0;
};
/// Adds the pair's shuffles to `sums`. If factor is not 0, raises `max_z_by_lane`, [group][lane].
void count_pair(const PlaneGroups& groups, const PairTarget& target, double* max_z_by_lane,
                SumsByLane& sums);

/// Memory for count_triples() that a thread reuses.
struct TripleScratch {
    Array<std::uint64_t, 1>
        planes_within_symbol;  ///< rows of (symbol of i, plane), [symbol][plane][lane]
    Array<std::uint64_t, 1>
        masked_planes;         ///< planes of j within a symbol of i, [symbol - 1][word][lane]
    Array<std::int64_t, 1> t;  ///< [k][lane]
    RowTables tables;          ///< of triples that are counted row by row
    void fit(Index within_size, Index masked_size, Index t_size);
};

/// Adds the shuffles of the tile's rows [first_row, last_row), which share i, to `sums`, with one
/// element per item of these rows. `observed`: of the whole tile.
void count_triples(const PlaneGroups& groups, const TripleTile& tile, Index first_row,
                   Index last_row, View<const std::int64_t, 1> observed, TripleScratch& scratch,
                   SumsByLane* sums);

}  // namespace pleat::mutual_information
