// Shape: moments in one pass, the diameter by trial of far scatterers, pairs by rows of distances.
#include "pleat/saxs/fit/shape.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cancellable_parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/saxs/fit/shape.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::saxs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Writes the bins of the distances from point `row` to points from `j` on, in whole vectors that
/// end before it; returns the first remaining point.
template <class D>
HWY_INLINE Index bins_from(D d, View<const float, 2> xyz, Index row, Index j,
                           float bins_per_angstrom, std::int32_t last_bin,
                           std::int32_t* HWY_RESTRICT to) {
    const hn::RebindToSigned<D> di;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const float *HWY_RESTRICT const x = xyz[0].data, *HWY_RESTRICT const y = xyz[1].data,
                                    *HWY_RESTRICT const z = xyz[2].data;
    const auto row_x = hn::Set(d, x[row]), row_y = hn::Set(d, y[row]), row_z = hn::Set(d, z[row]);
    const auto scale = hn::Set(d, bins_per_angstrom);
    const auto last = hn::Set(di, last_bin);
    for (; j + lanes <= row; j += lanes) {
        const auto dx = hn::Sub(row_x, hn::LoadU(d, x + j)),
                   dy = hn::Sub(row_y, hn::LoadU(d, y + j)),
                   dz = hn::Sub(row_z, hn::LoadU(d, z + j));
        const auto r = hn::Sqrt(hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::Mul(dx, dx))));
        hn::StoreU(hn::Min(hn::ConvertTo(di, hn::Mul(r, scale)), last), di, to + j);
    }
    return j;
}

void bins_of_row(View<const float, 2> xyz, Index row, float bins_per_angstrom,
                 std::int32_t last_bin, std::int32_t* to) {
    const Index rest =
        bins_from(hn::ScalableTag<float>(), xyz, row, 0, bins_per_angstrom, last_bin, to);
    bins_from(hn::CappedTag<float, 1>(), xyz, row, rest, bins_per_angstrom, last_bin, to);
}

}  // namespace pleat::saxs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::saxs {

HWY_EXPORT(bins_of_row);

namespace {

/// Number of copies of the bins, used in turn: a bin is less often read before its last value is
/// stored.
constexpr std::size_t kCopies = 4;

class PairBins {
public:
    explicit PairBins(std::size_t bins) : bins_(bins), sums_(kCopies * bins) {}

    /// Adds `amplitudes` [pair] times `scale` to the bins of the pairs.
    void add(double scale, std::span<const double> amplitudes, const std::int32_t* bin) {
        const std::size_t count = amplitudes.size();
        std::size_t j = 0;
        for (; j + kCopies <= count; j += kCopies)
            for (std::size_t copy = 0; copy < kCopies; ++copy)
                of(copy)[bin[j + copy]] += scale * amplitudes[j + copy];
        for (; j < count; ++j) of(0)[bin[j]] += scale * amplitudes[j];
    }
    std::vector<double> sum() {
        for (std::size_t copy = 1; copy < kCopies; ++copy)
            for (std::size_t n = 0; n < bins_; ++n) sums_[n] += of(copy)[n];
        sums_.resize(bins_);
        return std::move(sums_);
    }

private:
    double* of(std::size_t copy) { return sums_.data() + copy * bins_; }

    std::size_t bins_;
    std::vector<double> sums_;  ///< [copy, bin]
};

/// Sums of A_i A_j of both orders of pairs i, j of different scatterers, no farther apart than
/// `longest`.
std::vector<double> pair_distances(View<const float, 2> xyz, std::span<const double> amplitudes,
                                   double longest, double bin_width, const Context& context) {
    const Index count = xyz.extent(1);
    // One more bin, for distances that are rounded up.
    const auto bins = static_cast<std::size_t>(longest / bin_width) + 2;
    const auto bins_per_angstrom = static_cast<float>(1 / bin_width);
    std::vector<std::vector<double>> blocks(kShapeBlocks);
    parallel_for(resolve_threads(context), kShapeBlocks, [&](Index block, int thread) {
        PairBins sums(bins);
        std::vector<std::int32_t> bin(count);
        // Rows are divided among the blocks in turn, since later rows have more partners.
        for (Index row = block; row < count; row += kShapeBlocks) {
            throw_if_stopped(context, thread);
            HWY_DYNAMIC_DISPATCH(bins_of_row)
            (xyz, row, bins_per_angstrom, static_cast<std::int32_t>(bins - 1), bin.data());
            const auto before = static_cast<std::size_t>(row);
            sums.add(2 * amplitudes[before], amplitudes.first(before), bin.data());
        }
        blocks[block] = sums.sum();
    });
    std::vector<double> pairs(bins);
    for (const std::vector<double>& sums : blocks)
        for (std::size_t n = 0; n < bins; ++n) pairs[n] += sums[n];
    return pairs;
}

/// Centre and radius of gyration weighted by amplitudes; unweighted if their sum is 0.
void measure_moments(View<const float, 2> positions, std::span<const double> amplitudes,
                     Shape& shape) {
    const Index count = positions.extent(1);
    double sum = 0, size = 0;
    for (const double a : amplitudes) {
        sum += a;
        size += std::abs(a);
    }
    shape.forward_intensity = sum * sum;
    const bool is_weighted = std::abs(sum) > 1e-6 * size;
    double total = 0, first[3] = {}, second = 0, size_of_squares = 0;
    // Relative to the first scatterer, so that structures far from the origin lose no digits.
    for (Index i = 0; i < count; ++i) {
        const double a = is_weighted ? amplitudes[i] : 1;
        total += a;
        for (Index axis = 0; axis < 3; ++axis) {
            const double x =
                static_cast<double>(positions(axis, i)) - static_cast<double>(positions(axis, 0));
            first[axis] += a * x;
            second += a * x * x;
            size_of_squares += std::abs(a) * x * x;
        }
    }
    for (const double f : first) second -= f * f / total;
    // The rounding error of coincident scatterers counts as 0.
    shape.gyration_radius2 = second / total;
    if (std::abs(second) <= 1e-12 * size_of_squares) shape.gyration_radius2 = 0;
    shape.gyration_radius = shape.gyration_radius2 >= 0 ? std::sqrt(shape.gyration_radius2) : NAN;
}

/// The largest squared distance of the first `count` positions. Starts with those that are farthest
/// from the centre of their box, and ends where two cannot be farther apart than what was found.
double largest_distance2(View<const float, 2> positions, Index count) {
    double centre[3];
    for (Index axis = 0; axis < 3; ++axis) {
        const float* const x = positions[axis].data;
        const auto [min, max] = std::minmax_element(x, x + count);
        centre[axis] = (static_cast<double>(*min) + static_cast<double>(*max)) / 2;
    }
    std::vector<std::pair<double, Index>> order;  // by the distance from the centre
    for (Index i = 0; i < count; ++i) {
        double square = 0;
        for (Index axis = 0; axis < 3; ++axis)
            square += std::pow(static_cast<double>(positions(axis, i)) - centre[axis], 2);
        order.emplace_back(std::sqrt(square), i);
    }
    std::ranges::sort(order, std::greater<>());
    const float *const x = positions[0].data, *const y = positions[1].data,
                       *const z = positions[2].data;
    float largest2 = 0;
    for (std::size_t a = 0; a < order.size(); ++a) {
        // 1.00001: for rounding errors of float32.
        const double found = std::sqrt(static_cast<double>(largest2));
        const double from_centre = order[a].first;
        if (1.00001 * (from_centre + order.front().first) < found) break;
        const Index i = order[a].second;
        for (std::size_t b = 0; b < a && 1.00001 * (from_centre + order[b].first) >= found; ++b) {
            const Index j = order[b].second;
            const float dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
            largest2 = std::max(largest2, dx * dx + dy * dy + dz * dz);
        }
    }
    return static_cast<double>(largest2);
}

/// Scatterers whose amplitude is not 0.
struct Visible {
    Array<float, 2> xyz;
    std::vector<double> amplitudes;

    Visible(View<const float, 2> positions, std::span<const double> all) {
        std::vector<Index> visible;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i] == 0) continue;
            visible.push_back(static_cast<Index>(i));
            amplitudes.push_back(all[i]);
        }
        xyz = Array<float, 2>::unset(3, std::ssize(visible));
        for (Index axis = 0; axis < 3; ++axis)
            for (Index n = 0; n < xyz.extent(1); ++n) xyz(axis, n) = positions(axis, visible[n]);
    }
};

}  // namespace

Shape measure_shape(View<const float, 2> positions, std::span<const double> amplitudes, Index solid,
                    double bin_width, const Context& context) {
    Shape shape;
    measure_moments(positions, amplitudes, shape);
    throw_if_stopped(context);
    // The diameter excludes hydration sites.
    shape.diameter = std::sqrt(largest_distance2(positions, solid));
    if (bin_width == 0) return shape;
    const Visible visible(positions, amplitudes);
    const Index count = visible.xyz.extent(1);
    const double longest = count > 0 ? std::sqrt(largest_distance2(visible.xyz, count)) : 0;
    shape.pairs = pair_distances(visible.xyz, visible.amplitudes, longest, bin_width, context);
    while (shape.pairs.size() > 1 && shape.pairs.back() == 0) shape.pairs.pop_back();
    for (const double a : amplitudes) shape.pairs[0] += a * a;
    return shape;
}

}  // namespace pleat::saxs
#endif
