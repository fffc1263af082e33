// Surfaces: a grid of cells, overlaps gathered from vectors of spheres, then compared with all
// points.
#include "pleat/bio/structure/surfaces.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/bio/structure/surfaces.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<double, kVectorSlack>;

/// A point at R p is within s of f if p f > (R^2 + f^2 - s^2) / (2 R). GPUs round as this does
/// (saxs/cuda/surface_kernel.cuh).
Index gather_overlaps(const Spheres& spheres, SphereRange range, Index of, Overlaps& overlaps) {
    const Lanes d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const double *HWY_RESTRICT const x = &spheres.centres(0, 0),
                                     *HWY_RESTRICT const y = &spheres.centres(1, 0),
                                     *HWY_RESTRICT const z = &spheres.centres(2, 0),
                                     *HWY_RESTRICT const all_reach = spheres.reach.data();
    const double radius = all_reach[of];
    const auto own_x = hn::Set(d, x[of]), own_y = hn::Set(d, y[of]), own_z = hn::Set(d, z[of]);
    const auto own_reach = hn::Set(d, radius), own_square = hn::Set(d, radius * radius),
               half_inverse = hn::Set(d, 0.5 / radius);
    double* const to[] = {overlaps.overlap_directions[0].data(),
                          overlaps.overlap_directions[1].data(),
                          overlaps.overlap_directions[2].data(), overlaps.bound.data()};
    Index same = 0;
    for (Index n = range.first; n < range.last; n += lanes) {
        const auto is_given = hn::FirstN(d, static_cast<std::size_t>(range.last - n));
        const auto dx = hn::Sub(hn::LoadU(d, x + n), own_x),
                   dy = hn::Sub(hn::LoadU(d, y + n), own_y),
                   dz = hn::Sub(hn::LoadU(d, z + n), own_z);
        const auto reach = hn::LoadU(d, all_reach + n), both = hn::Add(reach, own_reach);
        const auto square = hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::Mul(dx, dx)));
        const auto is_same = hn::And(is_given, hn::Eq(square, hn::Zero(d)));
        same += static_cast<Index>(hn::CountTrue(d, is_same));
        const auto overlaps_it =
            hn::AndNot(is_same, hn::And(is_given, hn::Lt(square, hn::Mul(both, both))));
        // Selected lanes are stored one by one, because compressing stores are slower on some CPUs.
        HWY_ALIGN double vectors[4][kVectorSlack];
        hn::Store(dx, d, vectors[0]);
        hn::Store(dy, d, vectors[1]);
        hn::Store(dz, d, vectors[2]);
        const auto bound = hn::NegMulAdd(reach, reach, hn::Add(own_square, square));
        hn::Store(hn::Mul(bound, half_inverse), d, vectors[3]);
        std::uint8_t bits[8] = {};
        hn::StoreMaskBits(d, overlaps_it, bits);
        for (unsigned left = bits[0]; left != 0; left &= left - 1) {
            const auto lane = static_cast<std::size_t>(std::countr_zero(left));
            for (std::size_t axis = 0; axis < 3; ++axis)
                to[axis][overlaps.count] = vectors[axis][lane];
            to[3][overlaps.count++] = vectors[3][lane];
        }
    }
    return same;
}

/// Vectors of points that are compared at a time: one comparison need not wait for another.
constexpr Index kVectors = 4;

void compare_points(const Overlaps& overlaps, View<const double, 2> points, PointBits& exposed) {
    const Lanes d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const double *HWY_RESTRICT const x = overlaps.overlap_directions[0].data(),
                                     *HWY_RESTRICT const y = overlaps.overlap_directions[1].data(),
                                     *HWY_RESTRICT const z = overlaps.overlap_directions[2].data(),
                                     *HWY_RESTRICT const bound = overlaps.bound.data();
    for (Index first = 0; first < points.extent(1); first += kVectors * lanes) {
        hn::Vec<Lanes> px[kVectors], py[kVectors], pz[kVectors];
        hn::Mask<Lanes> is_open[kVectors];
        HWY_UNROLL(4) for (Index v = 0; v < kVectors; ++v) {
            px[v] = hn::LoadU(d, &points(0, first + v * lanes));
            py[v] = hn::LoadU(d, &points(1, first + v * lanes));
            pz[v] = hn::LoadU(d, &points(2, first + v * lanes));
            is_open[v] = hn::FirstN(d, static_cast<std::size_t>(lanes));
        }
        for (Index n = 0; n < overlaps.count; ++n) {
            const auto to_x = hn::Set(d, x[n]), to_y = hn::Set(d, y[n]), to_z = hn::Set(d, z[n]),
                       limit = hn::Set(d, bound[n]);
            HWY_UNROLL(4) for (Index v = 0; v < kVectors; ++v) {
                const auto product =
                    hn::MulAdd(pz[v], to_z, hn::MulAdd(py[v], to_y, hn::Mul(px[v], to_x)));
                is_open[v] = hn::And(is_open[v], hn::Le(product, limit));
            }
            if (hn::AllFalse(
                    d, hn::Or(hn::Or(is_open[0], is_open[1]), hn::Or(is_open[2], is_open[3]))))
                break;
        }
        for (Index v = 0; v < kVectors; ++v) {
            std::uint8_t bits[8] = {};
            hn::StoreMaskBits(d, is_open[v], bits);
            const Index point = first + v * lanes;
            exposed.words[point / 32] |= std::uint32_t{bits[0]} << point % 32;
        }
    }
}

}  // namespace pleat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat {

namespace {

CellGrid make_grid(View<const float, 2> centres, std::span<const double> reach) {
    const Index count = centres.extent(1);
    CellGrid grid;
    double span[3];
    for (int axis = 0; axis < 3; ++axis) {
        const float* const x = centres[axis].data;
        const auto [smallest, largest] = std::minmax_element(x, x + count);
        grid.origin[axis] = static_cast<double>(*smallest);
        span[axis] = static_cast<double>(*largest) - grid.origin[axis];
    }
    grid.width = 2 * *std::ranges::max_element(reach);
    const auto cells = [&] {
        double product = 1;
        for (const double side : span) product *= std::floor(side / grid.width) + 1;
        return product;
    };
    // Wider cells save memory for sparse structures.
    while (cells() > static_cast<double>(max_cells(count))) grid.width *= 1.5;
    for (int axis = 0; axis < 3; ++axis)
        grid.extent[axis] = static_cast<std::int32_t>(span[axis] / grid.width) + 1;
    return grid;
}

}  // namespace

SphereCells::SphereCells(View<const float, 2> centres, std::span<const double> reach)
    : grid(make_grid(centres, reach)) {
    const Index count = centres.extent(1);
    std::vector<std::size_t> cell_of(count);
    starts.assign(static_cast<std::size_t>(grid.cell_count()) + 1, 0);
    for (Index i = 0; i < count; ++i) {
        const Index x = grid.index(static_cast<double>(centres(0, i)), 0),
                    y = grid.index(static_cast<double>(centres(1, i)), 1),
                    z = grid.index(static_cast<double>(centres(2, i)), 2);
        const auto cell = static_cast<std::size_t>((x * grid.extent[1] + y) * grid.extent[2] + z);
        cell_of[i] = cell;
        ++starts[cell + 1];
    }
    for (std::size_t c = 1; c < starts.size(); ++c) starts[c] += starts[c - 1];
    order.resize(count);
    std::vector<std::int32_t> next(starts.begin(), starts.end() - 1);
    for (Index i = 0; i < count; ++i) order[next[cell_of[i]]++] = static_cast<std::int32_t>(i);
}

HWY_EXPORT(gather_overlaps);
HWY_EXPORT(compare_points);

namespace {

/// Finds spheres in the ranges that overlap sphere `of` and have another centre. Returns the number
/// of spheres, including `of`, with the same centre.
Index find_overlaps(const Spheres& spheres, std::span<const SphereRange> ranges, Index of,
                    Overlaps& overlaps) {
    Index room = kVectorSlack, same = 0;
    for (const SphereRange& range : ranges) room += range.last - range.first;
    if (room > std::ssize(overlaps.bound)) {
        for (std::vector<double>& axis : overlaps.overlap_directions) axis.resize(room);
        overlaps.bound.resize(room);
    }
    overlaps.count = 0;
    for (const SphereRange& range : ranges)
        same += HWY_DYNAMIC_DISPATCH(gather_overlaps)(spheres, range, of, overlaps);
    return same;
}

PointBits find_exposed_points(const Overlaps& overlaps, View<const double, 2> points) {
    PointBits exposed;
    HWY_DYNAMIC_DISPATCH(compare_points)(overlaps, points, exposed);
    return exposed;
}

Spheres spheres_in_order(const SphereCells& cells, View<const float, 2> centres,
                         std::span<const double> reach) {
    const Index count = centres.extent(1);
    Spheres spheres{Array<double, 2>(3, count + kVectorSlack),
                    std::vector<double>(count + kVectorSlack)};
    for (std::size_t n = 0; n < cells.order.size(); ++n) {
        const std::int32_t sphere = cells.order[n];
        for (Index axis = 0; axis < 3; ++axis)
            spheres.centres(axis, static_cast<Index>(n)) =
                static_cast<double>(centres(axis, sphere));
        spheres.reach[n] = reach[sphere];
    }
    return spheres;
}

/// Whether the n-th sphere lies in another one of the same centre: if two are equal, the first one
/// covers the second.
bool is_inside_another(const Spheres& all, std::span<const std::int32_t> order, Index n,
                       std::span<const SphereRange> ranges) {
    const double reach = all.reach[n];
    for (const SphereRange& range : ranges)
        for (Index m = range.first; m < range.last; ++m) {
            const double other = all.reach[m];
            if (all.centres(0, m) == all.centres(0, n) && all.centres(1, m) == all.centres(1, n) &&
                all.centres(2, m) == all.centres(2, n) &&
                (other > reach || (other == reach && order[m] < order[n])))
                return true;
        }
    return false;
}

}  // namespace

Array<double, 2> surface_points(Index count) {
    static_assert(kSurfacePoints % kVectorSlack == 0);
    Array<double, 2> points(3, count);
    const double turn = std::numbers::pi * (3 - std::sqrt(5.0));
    for (int k = 0; k < count; ++k) {
        const double z = 1 - (2 * k + 1.0) / static_cast<double>(count), r = std::sqrt(1 - z * z);
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

namespace {

/// Calls `keep(sphere, overlaps)` for each sphere that lies in no other one of the same centre.
template <class Keep>
void for_each_sphere(View<const float, 2> centres, std::span<const double> radii, double probe,
                     const Context& context, const Keep& keep) {
    const Index count = centres.extent(1);
    if (count == 0) return;
    std::vector<double> reach(radii.begin(), radii.end());
    for (double& one : reach) one += probe;
    const SphereCells cells(centres, reach);
    const Spheres spheres = spheres_in_order(cells, centres, reach);
    constexpr Index kBlock = 64;
    parallel_for(
        resolve_threads(context), (count + kBlock - 1) / kBlock, [&](Index block, int thread) {
            // Only the caller's thread may use the progress.
            if (thread == 0) throw_if_cancelled(context, "surfaces");
            Overlaps overlaps;
            std::array<SphereRange, 9> nine;
            for (Index n = block * kBlock; n < std::min(count, (block + 1) * kBlock); ++n) {
                const double centre[] = {spheres.centres(0, n), spheres.centres(1, n),
                                         spheres.centres(2, n)};
                const CellGrid::NearCells near = cells.grid.near(centre);
                for (std::int32_t k = 0; k < near.count(); ++k)
                    nine[k] = cells.grid.range(near, k, cells.starts.data());
                const std::span<const SphereRange> ranges(nine.data(),
                                                          static_cast<std::size_t>(near.count()));
                const Index same = find_overlaps(spheres, ranges, n, overlaps);
                if (same > 1 && is_inside_another(spheres, cells.order, n, ranges)) continue;
                keep(cells.order[n], overlaps);
            }
        });
}

}  // namespace

std::vector<Exposure> exposures(View<const float, 2> centres, std::span<const double> radii,
                                double probe, const Context& context) {
    std::vector<Exposure> all(centres.extent(1));
    const Array<double, 2> points = surface_points();
    for_each_sphere(centres, radii, probe, context, [&](Index sphere, const Overlaps& overlaps) {
        all[sphere] = exposure_of(find_exposed_points(overlaps, points), points);
    });
    return all;
}

std::vector<double> exposed_fractions(View<const float, 2> centres, std::span<const double> radii,
                                      double probe, const Context& context) {
    std::vector<double> fractions(centres.extent(1));
    const Array<double, 2> all = surface_points(kFinePoints);
    std::array<Array<double, 2>, kFinePoints / kSurfacePoints> parts;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        parts[part] = Array<double, 2>(3, kSurfacePoints);
        for (Index axis = 0; axis < 3; ++axis)
            std::copy_n(&all(axis, static_cast<Index>(part) * kSurfacePoints), kSurfacePoints,
                        &parts[part](axis, 0));
    }
    for_each_sphere(centres, radii, probe, context, [&](Index sphere, const Overlaps& overlaps) {
        int count = 0;
        for (const Array<double, 2>& points : parts)
            for (const std::uint32_t word : find_exposed_points(overlaps, points).words)
                count += std::popcount(word);
        fractions[sphere] = static_cast<double>(count) / static_cast<double>(kFinePoints);
    });
    return fractions;
}

}  // namespace pleat
#endif
