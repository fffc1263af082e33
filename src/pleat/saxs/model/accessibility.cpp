// Accessibility: Shrake and Rupley's points, with neighbours from a grid of cells.
#include "pleat/saxs/model/accessibility.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/model/sphere_cells.h"

namespace pleat::saxs {

namespace {

/// The spheres in the order of cells.
Spheres spheres_in_order(const SphereCells& cells, View<const float, 2> centres,
                         std::span<const double> reach) {
    const Index count = centres.extent(1);
    Spheres spheres{Array<double, 2>(3, count + kVectorSlack),
                    std::vector<double>(static_cast<std::size_t>(count + kVectorSlack))};
    for (std::size_t n = 0; n < cells.order.size(); ++n) {
        const std::int32_t sphere = cells.order[n];
        for (Index axis = 0; axis < 3; ++axis)
            spheres.centres(axis, static_cast<Index>(n)) =
                static_cast<double>(centres(axis, sphere));
        spheres.reach[n] = reach[static_cast<std::size_t>(sphere)];
    }
    return spheres;
}

/// Whether the n-th sphere lies in another one of the same centre: if two are equal, the first one
/// covers the second.
bool is_inside_another(const Spheres& all, std::span<const std::int32_t> order, Index n,
                       std::span<const SphereRange> ranges) {
    const double reach = all.reach[static_cast<std::size_t>(n)];
    for (const SphereRange& range : ranges)
        for (Index m = range.first; m < range.last; ++m) {
            const double other = all.reach[static_cast<std::size_t>(m)];
            if (all.centres(0, m) == all.centres(0, n) && all.centres(1, m) == all.centres(1, n) &&
                all.centres(2, m) == all.centres(2, n) &&
                (other > reach || (other == reach && order[static_cast<std::size_t>(m)] <
                                                         order[static_cast<std::size_t>(n)])))
                return true;
        }
    return false;
}

}  // namespace

Array<double, 2> surface_points() {
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

Exposure exposure_of(const PointBits& exposed, View<const double, 2> points) {
    int count = 0;
    double sum[3] = {};
    for (int word = 0; word < PointBits::kWords; ++word)
        for (std::uint32_t left = exposed.words[word]; left != 0; left &= left - 1) {
            ++count;
            for (Index axis = 0; axis < 3; ++axis)
                sum[axis] += points(axis, 32 * word + std::countr_zero(left));
        }
    Exposure exposure;
    exposure.fraction = static_cast<float>(count) / kSurfacePoints;
    for (int axis = 0; axis < 3 && count > 0; ++axis)
        exposure.direction[axis] = static_cast<float>(sum[axis] / static_cast<double>(count));
    return exposure;
}

std::vector<Exposure> exposures(View<const float, 2> centres, std::span<const double> radii,
                                double probe, const Context& context) {
    const Index count = centres.extent(1);
    std::vector<Exposure> all(static_cast<std::size_t>(count));
    if (count == 0) return all;
    std::vector<double> reach(radii.begin(), radii.end());
    for (double& one : reach) one += probe;
    const SphereCells cells(centres, reach);
    const Spheres spheres = spheres_in_order(cells, centres, reach);
    const Array<double, 2> points = surface_points();
    constexpr Index kBlock = 64;
    const Index blocks = (count + kBlock - 1) / kBlock;
    cancellable_parallel_for(context, resolve_threads(context), blocks, [&](Index block, int) {
        Overlaps overlaps;
        std::array<SphereRange, 9> nine;
        for (Index n = block * kBlock; n < std::min(count, (block + 1) * kBlock); ++n) {
            const double centre[] = {spheres.centres(0, n), spheres.centres(1, n),
                                     spheres.centres(2, n)};
            const CellGrid::Near near = cells.grid.near(centre);
            for (std::int32_t k = 0; k < near.count(); ++k)
                nine[static_cast<std::size_t>(k)] = cells.grid.range(near, k, cells.starts.data());
            const std::span<const SphereRange> ranges(nine.data(),
                                                      static_cast<std::size_t>(near.count()));
            const Index same = find_overlaps(spheres, ranges, n, overlaps);
            if (same > 1 && is_inside_another(spheres, cells.order, n, ranges)) continue;
            all[static_cast<std::size_t>(cells.order[static_cast<std::size_t>(n)])] =
                exposure_of(find_exposed_points(overlaps, points), points);
        }
    });
    return all;
}

}  // namespace pleat::saxs
