// Exposed points: overlaps are gathered from vectors of spheres, then compared with all points.
#include "pleat/saxs/model/exposed_points.h"

#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/saxs/model/exposed_points.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::saxs::HWY_NAMESPACE {
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
    double* const to[] = {overlaps.towards[0].data(), overlaps.towards[1].data(),
                          overlaps.towards[2].data(), overlaps.bound.data()};
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
        // Chosen one by one: instructions that store chosen lanes side by side take longer on some
        // CPUs.
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
    const double *HWY_RESTRICT const x = overlaps.towards[0].data(),
                                     *HWY_RESTRICT const y = overlaps.towards[1].data(),
                                     *HWY_RESTRICT const z = overlaps.towards[2].data(),
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

}  // namespace pleat::saxs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::saxs {

HWY_EXPORT(gather_overlaps);
HWY_EXPORT(compare_points);

Index find_overlaps(const Spheres& spheres, std::span<const SphereRange> ranges, Index of,
                    Overlaps& overlaps) {
    Index room = kVectorSlack, same = 0;
    for (const SphereRange& range : ranges) room += range.last - range.first;
    if (room > static_cast<Index>(overlaps.bound.size())) {
        for (std::vector<double>& axis : overlaps.towards)
            axis.resize(static_cast<std::size_t>(room));
        overlaps.bound.resize(static_cast<std::size_t>(room));
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

}  // namespace pleat::saxs
#endif
