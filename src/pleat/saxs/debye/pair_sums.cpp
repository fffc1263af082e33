// Pair sums: distances gathered into chunks, and their sums multiplied by form factors.
#include "pleat/saxs/debye/pair_sums.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

namespace pleat::saxs {

ScaleClasses::ScaleClasses(const Model& model) {
    for (const std::uint8_t scaled : model.scaled)
        has_unscaled_class = has_unscaled_class || scaled == 0;
    count = has_unscaled_class ? 1 : 0;
    for (const std::uint8_t scaled : model.scaled) {
        if (scaled == 1) ++count;
        class_of_channel.push_back(scaled == 0 ? 0 : count - 1);
    }
    scattering_ = Array<std::uint8_t, 2>(count, model.type_count());
    for (Index c = 0; c < model.channel_count(); ++c) {
        const Index of_class = class_of_channel[static_cast<std::size_t>(c)];
        for (Index type = 0; type < model.type_count(); ++type)
            for (Index k = 0; k < model.q_count(); ++k)
                if (model.factors(c, type, k) != 0.0) scattering_(of_class, type) = 1;
    }
}

template <class Real>
void Points<Real>::fill(View<const float, 2> from_xyz, View<const float, 2> from_scales,
                        std::span<const Index> order) {
    const Index count = static_cast<Index>(order.size());
    double squared = 0.0;
    for (Index axis = 0; axis < 3; ++axis) {
        Real smallest = 0, largest = 0;
        for (Index n = 0; n < count; ++n) {
            const Real x = from_xyz(axis, order[static_cast<std::size_t>(n)]);
            xyz(axis, n) = x;
            smallest = n == 0 ? x : std::min(smallest, x);
            largest = n == 0 ? x : std::max(largest, x);
        }
        squared += std::pow(static_cast<double>(largest) - static_cast<double>(smallest), 2);
    }
    reach = std::sqrt(squared);
    for (Index s = 0; s < scales.extent(0); ++s) {
        for (Index n = 0; n < count; ++n) {
            scales(s, n) = from_scales(s, order[static_cast<std::size_t>(n)]);
            scale_sums(s, n + 1) = scale_sums(s, n) + static_cast<double>(scales(s, n));
        }
    }
}
template struct Points<float>;
template struct Points<double>;

template <class Real>
PairSums<Real>::PairSums(const Model& model, const SineGrid& grid, const MomentTable* table)
    : model_(model),
      classes_(model),
      sums_(grid, {classes_.count * classes_.count, classes_.has_unscaled_class}),
      weighted_(classes_.count * classes_.count, model.q_count()),
      weight_sums_(static_cast<std::size_t>(classes_.count * classes_.count)),
      slopes_(Index{2}, kChunk + kSlack) {
    if (std::is_same_v<Real, float> && table != nullptr) moments_.emplace(*table, sums_.weightings);
}

/// Leaves out weightings of pairs of these types that scatter in none of their channels, and lists
/// those that need weights. Returns how many remain.
template <class Real>
Index PairSums<Real>::set_used_weightings(const SegmentPair& pair) {
    const std::int32_t row = pair.row.type, column = pair.column.type;
    Index used = 0;
    products_.clear();
    for (Index u = 0; u < classes_.count; ++u) {
        for (Index v = 0; v < classes_.count; ++v) {
            const bool is_used = classes_.scatters(u, row) && classes_.scatters(v, column);
            sums_.chunk.used[static_cast<std::size_t>(u * classes_.count + v)] = is_used;
            used += is_used;
            const ScaleProduct product{u * classes_.count + v, classes_.scale_of(u),
                                       classes_.scale_of(v)};
            if (is_used && (product.row >= 0 || product.column >= 0)) products_.push_back(product);
        }
    }
    return used;
}

/// Appends the distances of all pairs to the chunk, and calls flush() each time that it is full.
template <class Real>
template <class Flush>
void PairSums<Real>::gather(const Points<Real>& points, const SegmentPair& pair,
                            const Flush& flush) {
    const Index last = pair.column.first + pair.column.count;
    for (Index row = pair.row.first; row < pair.row.first + pair.row.count; ++row) {
        for (Index column = pair.same_segment ? row + 1 : pair.column.first; column < last;) {
            Index& gathered = sums_.chunk.count;
            const Index count = std::min(last - column, kChunk - gathered);
            row_pairs_.push_back({row, column, count});
            gathered += count;
            column += count;
            if (gathered == kChunk) flush();
        }
    }
}

/// Computes the squared distances and the weights of the gathered pairs.
template <class Real>
void PairSums<Real>::measure(const Points<Real>& points) {
    squared_distances(points.xyz.data(), points.stride, row_pairs_, sums_.chunk.squared.data());
    const auto scales = [&](Index row) -> const Real* {
        return row < 0 ? nullptr : &points.scales(row, 0);
    };
    for (const ScaleProduct& product : products_)
        scale_products(scales(product.row), scales(product.column), row_pairs_,
                       sums_.chunk.weight(product.weighting));
}

template <class Real>
double PairSums<Real>::scale_sum(const Points<Real>& points, Index of_class, Index first,
                                 Index last) const {
    const Index scale = classes_.scale_of(of_class);
    if (scale < 0) return static_cast<double>(last - first);
    return points.scale_sums(scale, last) - points.scale_sums(scale, first);
}

/// The sum of the weights of all pairs.
template <class Real>
double PairSums<Real>::pair_weight_sum(const Points<Real>& points, const SegmentPair& pair, Index u,
                                       Index v) const {
    const Index first = pair.row.first, end = first + pair.row.count;
    const Index last = pair.column.first + pair.column.count;
    if (!pair.same_segment)
        return scale_sum(points, u, first, end) * scale_sum(points, v, pair.column.first, last);
    double sum = 0.0;
    for (Index row = first; row < last; ++row)
        sum += scale_sum(points, u, row, row + 1) * scale_sum(points, v, row + 1, last);
    return sum;
}

template <class Real>
void PairSums<Real>::sum_pair_weights(const Points<Real>& points,
                                      std::span<const SegmentPair> pairs) {
    const Index classes = classes_.count;
    for (Index u = 0; u < classes; ++u) {
        for (Index v = 0; v < classes; ++v) {
            double& total = weight_sums_[static_cast<std::size_t>(u * classes + v)];
            total = 0.0;
            for (const SegmentPair& pair : pairs) total += pair_weight_sum(points, pair, u, v);
        }
    }
}

/// Adds the sums of sines times form factors.
template <class Real>
void PairSums<Real>::add_weighted(std::int32_t row_type, std::int32_t column_type,
                                  View<double, 2> partial) const {
    const Index classes = classes_.count, channels = model_.channel_count();
    const auto factor = [&](Index channel, std::int32_t type) {
        return &model_.factors(channel, type, 0);
    };
    const std::int32_t s = row_type, t = column_type;
    for (Index a = 0; a < channels; ++a) {
        const Index u = classes_.class_of_channel[static_cast<std::size_t>(a)];
        for (Index b = a; b < channels; ++b) {
            const Index v = classes_.class_of_channel[static_cast<std::size_t>(b)];
            // The factors of a sum that is not used are 0.
            if (!sums_.chunk.is_used(u * classes + v) && !sums_.chunk.is_used(v * classes + u))
                continue;
            double* const to = &partial(channel_pair(a, b, channels), 0);
            const double* const one = &weighted_(u * classes + v, 0);
            const double* const other = &weighted_(v * classes + u, 0);
            const double *as = factor(a, s), *bt = factor(b, t), *bs = factor(b, s),
                         *at = factor(a, t);
            for (Index k = 0; k < model_.q_count(); ++k)
                to[k] += a == b ? 2.0 * as[k] * at[k] * one[k]
                                : 2.0 * (as[k] * bt[k] * one[k] + bs[k] * at[k] * other[k]);
        }
    }
}

template <class Real>
void PairSums<Real>::add(const Points<Real>& points, std::span<const SegmentPair> pairs,
                         View<double, 2> partial) {
    double count = 0.0;
    for (const SegmentPair& pair : pairs) count += pair.pair_count();
    if (count == 0.0) return;
    const Index used = set_used_weightings(pairs.front());
    const bool by_moments = moments_ && moments_->table->is_faster(count, points.reach, used);
    if (by_moments) begin_moments(*moments_, points.reach);
    const auto flush = [&] {
        measure(points);
        row_pairs_.clear();
        if constexpr (std::is_same_v<Real, float>)
            if (by_moments) return add_chunk(*moments_, sums_.chunk);
        add_chunk(sums_);
    };
    row_pairs_.clear();
    for (const SegmentPair& pair : pairs) gather(points, pair, flush);
    flush();
    if (model_.q.front() == 0.0) sum_pair_weights(points, pairs);
    if (by_moments)
        take_sums(*moments_, weight_sums_.data(), weighted_.view());
    else
        take_sums(sums_, weight_sums_.data(), weighted_.view());
    add_weighted(pairs.front().row.type, pairs.front().column.type, partial);
}

/// Weights [q] of the sines of pairs that are weighted by classes u of the row, v of the column.
template <class Real>
void PairSums<Real>::slope_weight(std::int32_t row_type, std::int32_t column_type, Index u, Index v,
                                  View<const double, 2> weight, double* to) const {
    const Index channels = model_.channel_count();
    std::fill_n(to, model_.q_count(), 0.0);
    for (Index a = 0; a < channels; ++a) {
        for (Index b = 0; b < channels; ++b) {
            if (classes_.class_of_channel[static_cast<std::size_t>(a)] != u ||
                classes_.class_of_channel[static_cast<std::size_t>(b)] != v)
                continue;
            const double* const of =
                &weight(channel_pair(std::min(a, b), std::max(a, b), channels), 0);
            for (Index k = 0; k < model_.q_count(); ++k)
                to[k] += 2.0 * of[k] * model_.factors(a, row_type, k) *
                         model_.factors(b, column_type, k);
        }
    }
}

template <class Real>
void PairSums<Real>::add_forces(const Points<Real>& points, const Real* slopes,
                                View<double, 2> gradient) {
    for (const RowPairs& pairs : row_pairs_) {
        for (Index axis = 0; axis < 3; ++axis) {
            const Real x = points.xyz(axis, pairs.row);
            const Real* const other = &points.xyz(axis, pairs.column);
            double* const to = &gradient(axis, pairs.column);
            double sum = 0.0;
            for (Index n = 0; n < pairs.count; ++n) {
                const double force = static_cast<double>(slopes[n] * (x - other[n]));
                to[n] -= force;
                sum += force;
            }
            gradient(axis, pairs.row) += sum;
        }
        slopes += pairs.count;
    }
    row_pairs_.clear();
}

template <class Real>
void PairSums<Real>::add_gradient(const Points<Real>& points, const TypeSegment& row_segment,
                                  const TypeSegment& column_segment, bool same_segment,
                                  View<const double, 2> weight, View<double, 2> gradient) {
    std::vector<SlopeWeights<Real>> of_weighting;
    std::vector<double> values(static_cast<std::size_t>(model_.q_count()));
    for (Index u = 0; u < classes_.count; ++u) {
        for (Index v = 0; v < classes_.count; ++v) {
            slope_weight(row_segment.type, column_segment.type, u, v, weight, values.data());
            of_weighting.push_back(slope_weights<Real>(*sums_.grid, values.data()));
        }
    }
    const auto flush = [&] {
        measure(points);
        DistanceChunk<Real>& chunk = sums_.chunk;
        Real* const one = slopes_.data();
        Real* const all = one + kChunk + kSlack;
        std::fill_n(all, chunk.count, Real{0});
        for (Index w = 0; w < sums_.weightings.count; ++w) {
            if (!chunk.is_used(w)) continue;
            const bool plain = w == 0 && sums_.weightings.first_is_one;
            pair_slopes(sums_, of_weighting[static_cast<std::size_t>(w)], one);
            for (Index n = 0; n < chunk.count; ++n)
                all[n] += plain ? one[n] : one[n] * chunk.weight(w)[n];
        }
        add_forces(points, all, gradient);
        chunk.count = 0;
    };
    row_pairs_.clear();
    const SegmentPair pair{row_segment, column_segment, same_segment};
    set_used_weightings(pair);
    gather(points, pair, flush);
    flush();
}

template class PairSums<float>;
template class PairSums<double>;

SortedScatterers sort_by_body(const Model& model, std::span<const std::int32_t> bodies,
                              Index body_count) {
    SortedScatterers result;
    result.order.resize(model.types.size());
    std::iota(result.order.begin(), result.order.end(), Index{0});
    const auto key = [&](Index i) {
        const auto n = static_cast<std::size_t>(i);
        return std::pair(bodies[n], model.types[n]);
    };
    std::stable_sort(result.order.begin(), result.order.end(),
                     [&](Index i, Index j) { return key(i) < key(j); });
    result.first_segment.assign(static_cast<std::size_t>(body_count) + 1, 0);
    for (Index index = 0; index < model.scatterer_count(); ++index) {
        const Index scatterer = result.order[static_cast<std::size_t>(index)];
        const bool joins =
            index > 0 && key(scatterer) == key(result.order[static_cast<std::size_t>(index - 1)]);
        if (!joins) {
            result.segments.push_back({key(scatterer).second, index, 0});
            ++result.first_segment[static_cast<std::size_t>(key(scatterer).first) + 1];
        }
        ++result.segments.back().count;
    }
    std::partial_sum(result.first_segment.begin(), result.first_segment.end(),
                     result.first_segment.begin());
    return result;
}

SortedScatterers sort_by_type(const Model& model) {
    return sort_by_body(model, std::vector<std::int32_t>(model.types.size(), 0), 1);
}

std::vector<TypeSegment> split_segments(const std::vector<TypeSegment>& segments, Index rows) {
    std::vector<TypeSegment> pieces;
    for (const TypeSegment& segment : segments) {
        const Index count = (segment.count + rows - 1) / rows,
                    size = (segment.count + count - 1) / count;
        for (Index first = 0; first < segment.count; first += size)
            pieces.push_back(
                {segment.type, segment.first + first, std::min(size, segment.count - first)});
    }
    return pieces;
}

}  // namespace pleat::saxs
