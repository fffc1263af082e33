// Runs: scatterers put in an order in which those of one body and type lie side by side.
#pragma once

#include <span>
#include <vector>

#include "pleat/saxs/debye/pair_sums.h"

namespace pleat::saxs {

struct SortedScatterers {
    std::vector<Index> order;      ///< [slot]: the scatterer there
    std::vector<TypeSegment> segments;         ///< in the order of slots
    std::vector<Index> first_segment;  ///< [body + 1]: its runs
};

/// By type alone, as one body.
SortedScatterers sort_by_type(const Model& model);
/// By body, from 0, then type. `bodies` [scatterer].
SortedScatterers sort_by_body(const Model& model, std::span<const std::int32_t> bodies, Index body_count);

/// The same runs in pieces of at most `rows`.
std::vector<TypeSegment> split(const std::vector<TypeSegment>& segments, Index rows);

}  // namespace pleat::saxs
