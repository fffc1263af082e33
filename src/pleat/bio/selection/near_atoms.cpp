// Near atoms: a grid of cells whose edge is the distance.
#include "pleat/bio/selection/near_atoms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "pleat/core/error.h"

namespace pleat::selection {

namespace {

using Point = decltype(Topology::positions)::value_type;

bool is_near(const Point& a, const Point& b, double limit) {
    double square = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const double difference = static_cast<double>(a[axis]) - static_cast<double>(b[axis]);
        square += difference * difference;
    }
    return square <= limit;
}

/// The points in cells of a box around them, by counting sort.
class Grid {
public:
    Grid(std::vector<Point> points, double distance) {
        lowest_ = points.front();
        Point highest = lowest_;
        for (const Point& point : points) {
            for (std::size_t axis = 0; axis < 3; ++axis) {
                lowest_[axis] = std::min(lowest_[axis], point[axis]);
                highest[axis] = std::max(highest[axis], point[axis]);
            }
        }
        // At most 128 cells along an axis, so that few points far apart do not fill the memory.
        constexpr double kMaxCells = 128, kMinEdge = 0.5;
        edge_ = std::max(distance, kMinEdge) * (1 + 1e-9);  // more than the rounding of quotients
        for (std::size_t axis = 0; axis < 3; ++axis)
            edge_ = std::max(
                edge_, (static_cast<double>(highest[axis]) - static_cast<double>(lowest_[axis])) /
                           kMaxCells);
        for (std::size_t axis = 0; axis < 3; ++axis)
            counts_[axis] = cell_of(highest[axis], axis) + 1;
        begins_.assign(static_cast<std::size_t>(counts_[0] * counts_[1] * counts_[2]) + 1, 0);
        for (const Point& point : points) ++begins_[number_of(point) + 1];
        for (std::size_t n = 1; n < begins_.size(); ++n) begins_[n] += begins_[n - 1];
        points_.resize(points.size());
        std::vector<std::size_t> next = begins_;
        for (const Point& point : points) points_[next[number_of(point)]++] = point;
    }

    /// Whether a point is at most sqrt(limit) from any of the grid, which is at most the edge.
    bool has_near(const Point& point, double limit) const {
        std::array<Index, 3> first{}, last{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double at = std::floor(
                (static_cast<double>(point[axis]) - static_cast<double>(lowest_[axis])) / edge_);
            if (at < -1 || at > static_cast<double>(counts_[axis])) return false;
            first[axis] = std::max(static_cast<Index>(at) - 1, Index{0});
            last[axis] = std::min(static_cast<Index>(at) + 1, counts_[axis] - 1);
        }
        for (Index i = first[0]; i <= last[0]; ++i)
            for (Index j = first[1]; j <= last[1]; ++j)
                if (row_has_near(i, j, first[2], last[2], point, limit)) return true;
        return false;
    }

private:
    Index cell_of(double x, std::size_t axis) const {
        return static_cast<Index>(std::floor((x - static_cast<double>(lowest_[axis])) / edge_));
    }

    std::size_t number_of(const Point& point) const {
        return static_cast<std::size_t>((cell_of(point[0], 0) * counts_[1] + cell_of(point[1], 1)) *
                                            counts_[2] +
                                        cell_of(point[2], 2));
    }

    /// Cells that follow one another along the last axis.
    bool row_has_near(Index i, Index j, Index first, Index last, const Point& point,
                      double limit) const {
        if (first > last) return false;
        const Index row = (i * counts_[1] + j) * counts_[2];
        for (std::size_t n = begins_[static_cast<std::size_t>(row + first)];
             n < begins_[static_cast<std::size_t>(row + last) + 1]; ++n)
            if (is_near(points_[n], point, limit)) return true;
        return false;
    }

    double edge_ = 0;
    Point lowest_{};
    std::array<Index, 3> counts_{};
    std::vector<std::size_t> begins_;  // [cell], into points_
    std::vector<Point> points_;        // by cell
};

}  // namespace

Flags near_flags(const Topology& topology, const Flags& others, double distance) {
    if (topology.positions.size() != topology.atoms.size())
        throw InputError(topology.source.string(), 0,
                         "expected coordinates of the topology for distances, found none");
    for (const Point& point : topology.positions)
        if (!std::all_of(point.begin(), point.end(), [](auto x) { return std::isfinite(x); }))
            throw InputError(topology.source.string(), 0,
                             "expected finite coordinates for distances, found others");
    std::vector<Point> points;
    for (std::size_t n = 0; n < others.size(); ++n)
        if (others[n]) points.push_back(topology.positions[n]);
    Flags near(others.size());
    if (points.empty()) return near;
    const Grid grid(std::move(points), distance);
    for (std::size_t n = 0; n < near.size(); ++n)
        near[n] = others[n] || grid.has_near(topology.positions[n], distance * distance);
    return near;
}

}  // namespace pleat::selection
