// States: how often a trajectory changes its cluster, and how long it stays in one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::cluster {

// `assignment` [item]: the cluster of each item. Noise (-1) counts as a cluster, so it ends a
// visit. `series`: lengths of the series; within one, items follow each other at equal time
// intervals, and no step leads from one series to the next. Empty: all items are one series. Throws
// std::logic_error if the lengths do not add up to the number of items.

/// Number of steps from one cluster to another or to itself.
struct Transition {
    std::int32_t from = 0, to = 0;
    std::int64_t count = 0;
    std::int64_t from_count = 0;  ///< all steps from `from`
    double probability = 0;       ///< count / from_count
};
/// All pairs of items of one series that are `lag` items apart, by `from` and then by `to`;
/// transitions that do not occur are left out.
std::vector<Transition> count_transitions(std::span<const std::int32_t> assignment,
                                          std::span<const Index> series, Index lag = 1);

/// Number of visits of one length. A visit is a maximal run of consecutive items of one series in
/// one cluster. It is complete, or truncated by the start or end of its series; then its true
/// length is longer.
struct DwellCount {
    std::int32_t cluster = 0;
    Index dwell = 0;                   ///< items in the visit
    std::int64_t visits = 0, cut = 0;  ///< whole visits, and visits that are cut
};
/// By cluster and then by length.
std::vector<DwellCount> count_dwells(std::span<const std::int32_t> assignment,
                                     std::span<const Index> series);

/// Lengths of the visits to one cluster, in items.
struct DwellTimes {
    std::int32_t cluster = 0;
    std::int64_t items = 0;       ///< in all visits
    std::int64_t visits = 0;      ///< whole ones, to which the next three refer; 0 if none
    double mean = 0, median = 0;  ///< of an even number of visits: the mean of the middle two
    std::int64_t longest = 0;
    std::int64_t cut = 0, longest_cut = 0;  ///< visits that are cut
};
/// One row per cluster, by its number.
std::vector<DwellTimes> summarise_dwells(std::span<const DwellCount> dwells);

}  // namespace pleat::cluster
