// Pair sums: partial profiles and gradients of pairs of scatterers of two types, in an order in
// which scatterers of one body and type are neighbours.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/debye/distance_moments.h"
#include "pleat/saxs/debye/distance_sums.h"

namespace pleat::saxs {

/// The frames [first, first + count) of `all` [frame, row, column]; an empty view stays empty.
template <class T>
View<T, 3> frames_of(View<T, 3> all, Index first, Index count) {
    if (all.size() == 0) return all;
    all.data = all[first].data;
    all.extents[0] = count;
    return all;
}

/// Neighbouring scatterers of one type, in the order of SortedScatterers.
struct TypeSegment {
    std::int32_t type = 0;
    Index first = 0, count = 0;
};

/// The pairs of a scatterer of `row` and a scatterer of `column`; if `same_segment`, the pairs
/// inside `row`.
struct SegmentPair {
    TypeSegment row, column;
    bool same_segment = false;

    double pair_count() const {
        const double rows = static_cast<double>(row.count);
        return same_segment ? 0.5 * rows * (rows - 1.0) : rows * static_cast<double>(column.count);
    }
};

/// Groups of channels with the same scales: class 0 holds those without scales, if there are any.
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

/// The positions and scales of one set in the order of SortedScatterers.
template <class Real>
struct Points {
    Points() = default;
    Points(Index count, Index scale_count)
        : stride(count + kSlack),
          xyz(Index{3}, stride),
          scales(scale_count, stride),
          scale_sums(scale_count, count + 1) {}

    Index stride = 0;
    Array<Real, 2> xyz;           ///< [axis, sorted scatterer]
    Array<Real, 2> scales;        ///< [scale, sorted scatterer]
    Array<double, 2> scale_sums;  ///< [scale, sorted scatterer]: sum of those before
    double reach = 0;             ///< angstrom: an upper bound of all distances

    /// Copies scatterer order[n] of `xyz` [axis, scatterer] and `from_scales` [scale, scatterer] to
    /// index n.
    void fill(View<const float, 2> from_xyz, View<const float, 2> from_scales,
              std::span<const Index> order);
};

/// Sums over pairs on one thread, by moments if they take less time (float32 only). The model, the
/// grid and the table must outlive it; without a table (null) it uses no moments.
template <class Real>
class PairSums {
public:
    PairSums(const Model& model, const SineGrid& grid, const MomentTable* table = nullptr);

    /// Adds the pairs, in both orders, to `partial` [channel pair, q]. All rows must have one type,
    /// and all columns one type.
    void add(const Points<Real>& points, std::span<const SegmentPair> pairs,
             View<double, 2> partial);

    /// Adds the gradient of the sum of `weight` [channel pair, q] times partial profiles to
    /// `gradient` [axis, sorted scatterer], over pairs of a row and a column of the same points;
    /// `same_segment`: row_segment is column_segment.
    void add_gradient(const Points<Real>& points, const TypeSegment& row_segment,
                      const TypeSegment& column_segment, bool same_segment,
                      View<const double, 2> weight, View<double, 2> gradient);

private:
    template <class Flush>
    void gather(const Points<Real>& points, const SegmentPair& pair, const Flush& flush);
    void measure(const Points<Real>& points);
    Index set_used_weightings(const SegmentPair& pair);
    void sum_pair_weights(const Points<Real>& points, std::span<const SegmentPair> pairs);
    double scale_sum(const Points<Real>& points, Index of_class, Index first, Index last) const;
    double pair_weight_sum(const Points<Real>& points, const SegmentPair& pair, Index u,
                           Index v) const;
    void add_weighted(std::int32_t row_type, std::int32_t column_type,
                      View<double, 2> partial) const;
    void slope_weight(std::int32_t row_type, std::int32_t column_type, Index u, Index v,
                      View<const double, 2> weight, double* to) const;
    void add_forces(const Points<Real>& points, const Real* slopes, View<double, 2> gradient);

    const Model& model_;
    ScaleClasses classes_;
    DistanceSums<Real> sums_;
    std::optional<DistanceMoments> moments_;
    Array<double, 2> weighted_;        ///< [weighting, q]
    std::vector<double> weight_sums_;  ///< [weighting]
    /// A weighting whose weights are products of the scales of row and column; -1: without scales.
    struct ScaleProduct {
        Index weighting, row, column;
    };
    std::vector<ScaleProduct> products_;  ///< of the pairs that are added
    std::vector<RowPairs> row_pairs_;
    Array<Real, 2> slopes_;  ///< [2, kChunk + kSlack]: of one weighting, and of all
};

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
