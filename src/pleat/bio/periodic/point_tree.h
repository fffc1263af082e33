// Point tree: finds the points within a distance of a place.
#pragma once

#include <functional>
#include <vector>

#include "pleat/bio/periodic/periodic_cell.h"
#include "pleat/core/view.h"

namespace pleat {

/// A k-d tree of points with the smallest box around each of its parts. Time per question: about
/// log n for has_near(), whatever the distance, and the points found besides for for_each_near().
class PointTree {
public:
    /// Points must be finite.
    explicit PointTree(const std::vector<Point>& points);

    /// Whether a point is at most `distance` away.
    bool has_near(const Point& place, double distance) const;
    /// Calls `visit` with the index of each point at most `distance` away.
    void for_each_near(const Point& place, double distance,
                       const std::function<void(Index)>& visit) const;

private:
    struct Node {
        Point min{}, max{};
        Index first = 0, last = 0;  // of `points_`
        Index left = -1;            // the other child follows; -1: none
    };
    void fill(std::size_t number);
    template <class Visit>
    void search(const Point& place, double distance, const Visit& visit) const;

    std::vector<Node> nodes_;
    std::vector<Index> order_;   // of the points given
    std::vector<Point> points_;  // in that order
};

}  // namespace pleat
