// Sorted scatterers: an order in which scatterers of one body and type are neighbours, and classes
// of channels with the same scales.
#pragma once

#include <span>
#include <vector>

#include "pleat/saxs/debye/debye.h"

namespace pleat::saxs {

/// The frames [first, first + count) of `all` [frame, row, column]; an empty view stays empty.
template <class T>
View<T, 3> frames_of(View<T, 3> all, Index first, Index count) {
    if (all.size() == 0) return all;
    all.data = all[first].data;
    all.extents[0] = count;
    return all;
}

/// Consecutive scatterers of one type in the order of SortedScatterers.
struct TypeSegment {
    std::int32_t type = 0;
    Index first = 0, count = 0;
};

/// Groups of channels with the same scales; class 0 contains the channels without scales, if any.
struct ScaleClasses {
    explicit ScaleClasses(const Model& model);

    bool has_unscaled_class = false;
    Index count = 0;
    std::vector<Index> class_of_channel;  ///< [channel]
    Index scaled() const { return count - (has_unscaled_class ? 1 : 0); }
    /// Row of the scales of a class; -1 for the class without scales.
    Index scale_of(Index of_class) const { return of_class - (has_unscaled_class ? 1 : 0); }
    /// Whether scatterers of a type scatter in any channel of a class: atoms do not scatter as
    /// water of the hydration layer, nor water as atoms.
    bool scatters(Index of_class, std::int32_t type) const {
        return scattering_(of_class, type) != 0;
    }

private:
    Array<std::uint8_t, 2> scattering_;  ///< [class, type]
};

struct SortedScatterers {
    std::vector<Index> order;           ///< [sorted scatterer]: its number in the model
    std::vector<TypeSegment> segments;  ///< in this order
    std::vector<Index> first_segment;   ///< [body, and one]: the first segment of each
};

SortedScatterers sort_by_type(const Model& model);
/// Sorts by body, from 0, then by type. `bodies` [scatterer].
SortedScatterers sort_by_body(const Model& model, std::span<const std::int32_t> bodies,
                              Index body_count);

/// Cuts the segments into pieces of at most `rows` scatterers.
std::vector<TypeSegment> split_segments(const std::vector<TypeSegment>& segments, Index rows);

}  // namespace pleat::saxs
