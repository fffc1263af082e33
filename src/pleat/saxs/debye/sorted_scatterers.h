// Sorted scatterers: an order in which scatterers of one body and type are neighbours.
#pragma once

#include <span>
#include <vector>

#include "pleat/saxs/debye/pair_sums.h"

namespace pleat::saxs {

struct SortedScatterers {
    std::vector<Index> order;           ///< [sorted scatterer]: its number in the model
    std::vector<TypeSegment> segments;  ///< in this order
    std::vector<Index> first_segment;   ///< [body, and one]: the first segment of each
};

/// Sorts the scatterers by type, and treats them as one body.
SortedScatterers sort_by_type(const Model& model);
/// Sorts by body, from 0, then by type. `bodies` [scatterer].
SortedScatterers sort_by_body(const Model& model, std::span<const std::int32_t> bodies,
                              Index body_count);

/// Cuts the segments into pieces of at most `rows` scatterers.
std::vector<TypeSegment> split_segments(const std::vector<TypeSegment>& segments, Index rows);

}  // namespace pleat::saxs
