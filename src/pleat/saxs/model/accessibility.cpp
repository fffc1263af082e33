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

namespace pleat::saxs {

namespace {

using Point = std::array<double, 3>;

/// Evenly spread points on a sphere, along a golden spiral.
std::vector<Point> spiral() {
    std::vector<Point> points(kSurfacePoints);
    const double turn = std::numbers::pi * (3 - std::sqrt(5.0));
    for (int k = 0; k < kSurfacePoints; ++k) {
        const double z = 1 - (2 * k + 1.0) / kSurfacePoints, r = std::sqrt(1 - z * z);
        points[static_cast<std::size_t>(k)] = {r * std::cos(turn * k), r * std::sin(turn * k), z};
    }
    return points;
}

/// Spheres sorted into cubes as wide as the longest reach, so that neighbours are in 27 of them.
class Cells {
public:
    Cells(View<const float, 2> centres, double other_reach)
        : count_(centres.extent(1)), sorted_(Index{3}, count_) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const float* const x = centres[static_cast<Index>(axis)].data;
            const auto [smallest, largest] = std::minmax_element(x, x + count_);
            origin_[axis] = static_cast<double>(*smallest);
            span_[axis] = static_cast<double>(*largest) - origin_[axis];
        }
        // Wider cells for sparse structures save memory.
        width_ = other_reach;
        while (cells() > 8.0 * static_cast<double>(count_) + 64) width_ *= 1.5;
        for (std::size_t axis = 0; axis < 3; ++axis)
            extent_[axis] = static_cast<Index>(span_[axis] / width_) + 1;
        sort(centres);
    }

    /// Calls `visit(sphere, centre)` for each sphere in the 27 cells around a point.
    template <class Visit>
    void visit_near(const Point& at, Visit visit) const {
        std::array<Index, 3> first{}, last{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const Index cell = index(at[axis], axis);
            first[axis] = std::max<Index>(0, cell - 1);
            last[axis] = std::min(extent_[axis] - 1, cell + 1);
        }
        for (Index x = first[0]; x <= last[0]; ++x)
            for (Index y = first[1]; y <= last[1]; ++y) {
                // Cells that follow one another in z are neighbours in memory.
                const auto row = static_cast<std::size_t>((x * extent_[1] + y) * extent_[2]);
                const std::int32_t end = starts_[row + static_cast<std::size_t>(last[2]) + 1];
                for (std::int32_t n = starts_[row + static_cast<std::size_t>(first[2])]; n < end;
                     ++n)
                    visit(static_cast<Index>(order_[static_cast<std::size_t>(n)]),
                          Point{sorted_(0, n), sorted_(1, n), sorted_(2, n)});
            }
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
        for (Index axis = 0; axis < 3; ++axis)
            for (Index n = 0; n < count_; ++n)
                sorted_(axis, n) =
                    static_cast<double>(centres(axis, Index{order_[static_cast<std::size_t>(n)]}));
    }

    const Index count_;
    Point origin_{}, span_{};
    std::array<Index, 3> extent_{};
    double width_ = 0;
    std::vector<std::int32_t> starts_, order_;
    Array<double, 2> sorted_;  ///< [axis, sphere in the order of cells]
};

struct Neighbour {
    Point from;  ///< of this sphere's centre to that one's
    double squared_reach;
};

Point centre(View<const float, 2> centres, Index i) {
    return {static_cast<double>(centres(0, i)), static_cast<double>(centres(1, i)),
            static_cast<double>(centres(2, i))};
}

/// Changes the order of the neighbours.
Exposure expose(const std::vector<Point>& points, double radius,
                std::vector<Neighbour>& neighbours) {
    int exposed = 0;
    Point sum{};
    const auto covers = [&](const Neighbour& n, const Point& p) {
        const double dx = radius * p[0] - n.from[0], dy = radius * p[1] - n.from[1],
                     dz = radius * p[2] - n.from[2];
        return dx * dx + dy * dy + dz * dz < n.squared_reach;
    };
    for (const Point& point : points) {
        std::size_t n = 0;
        while (n < neighbours.size() && !covers(neighbours[n], point)) ++n;
        if (n < neighbours.size()) {
            // The sphere that covers a point often covers the next ones.
            std::swap(neighbours[n], neighbours[n / 2]);
            continue;
        }
        ++exposed;
        for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += point[axis];
    }
    Exposure exposure;
    exposure.fraction = static_cast<float>(exposed) / kSurfacePoints;
    for (std::size_t axis = 0; axis < 3 && exposed > 0; ++axis)
        exposure.direction[axis] = static_cast<float>(sum[axis] / exposed);
    return exposure;
}

}  // namespace

std::vector<Exposure> exposures(View<const float, 2> centres, std::span<const double> radii,
                                double probe, const Context& context) {
    const Index count = centres.extent(1);
    std::vector<Exposure> all(static_cast<std::size_t>(count));
    if (count == 0) return all;
    const double largest = *std::max_element(radii.begin(), radii.end());
    const Cells cells(centres, 2 * (largest + probe));
    const std::vector<Point> points = spiral();
    constexpr Index kBlock = 64;
    const Index blocks = (count + kBlock - 1) / kBlock;
    cancellable_parallel_for(context, resolve_threads(context), blocks, [&](Index block, int) {
        std::vector<Neighbour> neighbours;
        for (Index i = block * kBlock; i < std::min(count, (block + 1) * kBlock); ++i) {
            const Point at = centre(centres, i);
            const double reach = radii[static_cast<std::size_t>(i)] + probe;
            neighbours.clear();
            bool is_buried = false;  // in a sphere about the same centre
            cells.visit_near(at, [&](Index j, const Point& other) {
                const Point from = {other[0] - at[0], other[1] - at[1], other[2] - at[2]};
                const double other_reach = radii[static_cast<std::size_t>(j)] + probe;
                const double r2 = from[0] * from[0] + from[1] * from[1] + from[2] * from[2];
                if (j == i || r2 >= (reach + other_reach) * (reach + other_reach)) return;
                // If two spheres are equal, the first one covers the second.
                if (r2 == 0)
                    is_buried |= other_reach > reach || (other_reach == reach && j < i);
                else
                    neighbours.push_back({from, other_reach * other_reach});
            });
            if (!is_buried) all[static_cast<std::size_t>(i)] = expose(points, reach, neighbours);
        }
    });
    return all;
}

}  // namespace pleat::saxs
