// Accessibility: Shrake and Rupley's points, with neighbours from a grid of cells.
#include "pleat/saxs/model/accessibility.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

#include "pleat/core/array.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/model/exposed_points.h"

namespace pleat::saxs {

namespace {

using Point = std::array<double, 3>;

/// Evenly spread points on a sphere, along a golden spiral: [axis, point].
Array<double, 2> spiral() {
    static_assert(kSurfacePoints % kVectorSlack == 0);
    Array<double, 2> points(3, kSurfacePoints);
    const double turn = std::numbers::pi * (3 - std::sqrt(5.0));
    for (int k = 0; k < kSurfacePoints; ++k) {
        const double z = 1 - (2 * k + 1.0) / kSurfacePoints, r = std::sqrt(1 - z * z);
        points(0, k) = r * std::cos(turn * k);
        points(1, k) = r * std::sin(turn * k);
        points(2, k) = z;
    }
    return points;
}

/// Spheres sorted into cubes as wide as the longest reach of two, so that those that overlap one
/// are in 27 of them.
class Cells {
public:
    /// The spheres in the order of cells.
    Spheres spheres;

    Cells(View<const float, 2> centres, std::span<const double> radii, double probe)
        : count_(centres.extent(1)) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const float* const x = centres[static_cast<Index>(axis)].data;
            const auto [smallest, largest] = std::minmax_element(x, x + count_);
            origin_[axis] = static_cast<double>(*smallest);
            span_[axis] = static_cast<double>(*largest) - origin_[axis];
        }
        // Wider cells for sparse structures save memory.
        width_ = 2 * (*std::max_element(radii.begin(), radii.end()) + probe);
        while (cells() > 8.0 * static_cast<double>(count_) + 64) width_ *= 1.5;
        for (std::size_t axis = 0; axis < 3; ++axis)
            extent_[axis] = static_cast<Index>(span_[axis] / width_) + 1;
        sort(centres);
        spheres.centres = Array<double, 2>(3, count_ + kVectorSlack);
        spheres.reach.resize(static_cast<std::size_t>(count_ + kVectorSlack));
        for (Index n = 0; n < count_; ++n) {
            for (Index axis = 0; axis < 3; ++axis)
                spheres.centres(axis, n) = static_cast<double>(centres(axis, sphere(n)));
            spheres.reach[static_cast<std::size_t>(n)] =
                radii[static_cast<std::size_t>(sphere(n))] + probe;
        }
    }

    /// The index of the n-th sphere in the order of cells.
    Index sphere(Index n) const { return order_[static_cast<std::size_t>(n)]; }

    /// The spheres in the 27 cells about the n-th sphere.
    std::span<const SphereRange> near(Index n, std::array<SphereRange, 9>& ranges) const {
        std::array<Index, 3> first{}, last{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const Index cell = index(spheres.centres(static_cast<Index>(axis), n), axis);
            first[axis] = std::max<Index>(0, cell - 1);
            last[axis] = std::min(extent_[axis] - 1, cell + 1);
        }
        std::size_t count = 0;
        for (Index x = first[0]; x <= last[0]; ++x)
            for (Index y = first[1]; y <= last[1]; ++y) {
                // Cells that follow one another in z are neighbours in memory.
                const auto row = static_cast<std::size_t>((x * extent_[1] + y) * extent_[2]);
                ranges[count++] = {starts_[row + static_cast<std::size_t>(first[2])],
                                   starts_[row + static_cast<std::size_t>(last[2]) + 1]};
            }
        return {ranges.data(), count};
    }

private:
    double cells() const {
        double product = 1;
        for (const double span : span_) product *= std::floor(span / width_) + 1;
        return product;
    }
    Index index(double x, std::size_t axis) const {
        return std::clamp<Index>(static_cast<Index>((x - origin_[axis]) / width_), 0,
                                 extent_[axis] - 1);
    }
    void sort(View<const float, 2> centres) {
        std::vector<std::size_t> cell_of(static_cast<std::size_t>(count_));
        starts_.assign(static_cast<std::size_t>(extent_[0] * extent_[1] * extent_[2]) + 1, 0);
        for (Index i = 0; i < count_; ++i) {
            const Index x = index(static_cast<double>(centres(0, i)), 0),
                        y = index(static_cast<double>(centres(1, i)), 1),
                        z = index(static_cast<double>(centres(2, i)), 2);
            const auto cell = static_cast<std::size_t>((x * extent_[1] + y) * extent_[2] + z);
            cell_of[static_cast<std::size_t>(i)] = cell;
            ++starts_[cell + 1];
        }
        for (std::size_t c = 1; c < starts_.size(); ++c) starts_[c] += starts_[c - 1];
        order_.resize(static_cast<std::size_t>(count_));
        std::vector<std::int32_t> next(starts_.begin(), starts_.end() - 1);
        for (Index i = 0; i < count_; ++i)
            order_[static_cast<std::size_t>(next[cell_of[static_cast<std::size_t>(i)]]++)] =
                static_cast<std::int32_t>(i);
    }

    const Index count_;
    Point origin_{}, span_{};
    std::array<Index, 3> extent_{};
    double width_ = 0;
    std::vector<std::int32_t> starts_, order_;
};

/// Whether the n-th sphere lies in another one of the same centre: if two are equal, the first one
/// covers the second.
bool is_inside_another(const Cells& cells, Index n, std::span<const SphereRange> ranges) {
    const Spheres& all = cells.spheres;
    const double reach = all.reach[static_cast<std::size_t>(n)];
    for (const SphereRange& range : ranges)
        for (Index m = range.first; m < range.last; ++m) {
            const double other = all.reach[static_cast<std::size_t>(m)];
            if (all.centres(0, m) == all.centres(0, n) && all.centres(1, m) == all.centres(1, n) &&
                all.centres(2, m) == all.centres(2, n) &&
                (other > reach || (other == reach && cells.sphere(m) < cells.sphere(n))))
                return true;
        }
    return false;
}

Exposure expose(View<const double, 2> points, const Overlaps& overlaps) {
    std::array<std::uint8_t, kSurfacePoints> is_exposed;
    const Index exposed = find_exposed_points(overlaps, points, is_exposed);
    Exposure exposure;
    exposure.fraction = static_cast<float>(exposed) / kSurfacePoints;
    if (exposed == 0) return exposure;
    Point sum{};
    for (Index k = 0; k < kSurfacePoints; ++k)
        if (is_exposed[static_cast<std::size_t>(k)] != 0)
            for (std::size_t axis = 0; axis < 3; ++axis)
                sum[axis] += points(static_cast<Index>(axis), k);
    for (std::size_t axis = 0; axis < 3; ++axis)
        exposure.direction[axis] = static_cast<float>(sum[axis] / static_cast<double>(exposed));
    return exposure;
}

}  // namespace

std::vector<Exposure> exposures(View<const float, 2> centres, std::span<const double> radii,
                                double probe, const Context& context) {
    const Index count = centres.extent(1);
    std::vector<Exposure> all(static_cast<std::size_t>(count));
    if (count == 0) return all;
    const Cells cells(centres, radii, probe);
    const Array<double, 2> points = spiral();
    constexpr Index kBlock = 64;
    const Index blocks = (count + kBlock - 1) / kBlock;
    cancellable_parallel_for(context, resolve_threads(context), blocks, [&](Index block, int) {
        Overlaps overlaps;
        std::array<SphereRange, 9> nine;
        for (Index n = block * kBlock; n < std::min(count, (block + 1) * kBlock); ++n) {
            const std::span<const SphereRange> ranges = cells.near(n, nine);
            const Index same = find_overlaps(cells.spheres, ranges, n, overlaps);
            if (same > 1 && is_inside_another(cells, n, ranges)) continue;
            all[static_cast<std::size_t>(cells.sphere(n))] = expose(points, overlaps);
        }
    });
    return all;
}

}  // namespace pleat::saxs
