// Point tree: halves along the longest edge, down to a few points.
#include "pleat/bio/periodic/point_tree.h"

#include <algorithm>
#include <numeric>

namespace pleat {

namespace {

constexpr Index kLeaf = 8;  // points that are not divided further

}  // namespace

PointTree::PointTree(const std::vector<Point>& points) : order_(points.size()), points_(points) {
    std::iota(order_.begin(), order_.end(), Index{0});
    if (points.empty()) return;
    nodes_.push_back({{}, {}, 0, static_cast<Index>(points.size())});
    for (std::size_t n = 0; n < nodes_.size(); ++n) fill(n);
    for (std::size_t i = 0; i < order_.size(); ++i)
        points_[i] = points[static_cast<std::size_t>(order_[i])];
}

/// Finds the box of a node, and adds its children. Until all are filled, points are as given.
void PointTree::fill(std::size_t number) {
    Node node = nodes_[number];
    const auto begin = order_.begin() + node.first, end = order_.begin() + node.last;
    node.min = node.max = points_[static_cast<std::size_t>(*begin)];
    for (auto at = begin; at != end; ++at)
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double x = points_[static_cast<std::size_t>(*at)][axis];
            node.min[axis] = std::min(node.min[axis], x);
            node.max[axis] = std::max(node.max[axis], x);
        }
    if (node.last - node.first > kLeaf) {
        const Point edges = node.max - node.min;
        const auto axis =
            static_cast<std::size_t>(std::max_element(edges.begin(), edges.end()) - edges.begin());
        const Index middle = node.first + (node.last - node.first) / 2;
        std::nth_element(begin, order_.begin() + middle, end, [&](Index a, Index b) {
            return points_[static_cast<std::size_t>(a)][axis] <
                   points_[static_cast<std::size_t>(b)][axis];
        });
        node.left = static_cast<Index>(nodes_.size());
        nodes_.push_back({{}, {}, node.first, middle});
        nodes_.push_back({{}, {}, middle, node.last});
    }
    nodes_[number] = node;
}

/// Calls `visit` with the position in `points_` of each point at most `distance` away, parts that
/// are near first, until it returns false.
template <class Visit>
void PointTree::search(const Point& place, double distance, const Visit& visit) const {
    if (nodes_.empty()) return;
    const double limit = distance * distance;
    const auto nearest = [&](const Node& node) {
        Point d;
        for (std::size_t axis = 0; axis < 3; ++axis)
            d[axis] = std::max({node.min[axis] - place[axis], 0.0, place[axis] - node.max[axis]});
        return dot(d, d);
    };
    std::vector<Index> waiting = {0};
    while (!waiting.empty()) {
        const Node& node = nodes_[static_cast<std::size_t>(waiting.back())];
        waiting.pop_back();
        if (nearest(node) > limit) continue;
        if (node.left >= 0) {
            const auto left = static_cast<std::size_t>(node.left);
            const bool is_left_nearer = nearest(nodes_[left]) <= nearest(nodes_[left + 1]);
            waiting.push_back(node.left + (is_left_nearer ? 1 : 0));
            waiting.push_back(node.left + (is_left_nearer ? 0 : 1));
            continue;
        }
        for (Index n = node.first; n < node.last; ++n) {
            const Point d = points_[static_cast<std::size_t>(n)] - place;
            if (dot(d, d) <= limit && !visit(n)) return;
        }
    }
}

bool PointTree::has_near(const Point& place, double distance) const {
    bool found = false;
    search(place, distance, [&](Index) {
        found = true;
        return false;
    });
    return found;
}

void PointTree::for_each_near(const Point& place, double distance,
                              const std::function<void(Index)>& visit) const {
    search(place, distance, [&](Index n) {
        visit(order_[static_cast<std::size_t>(n)]);
        return true;
    });
}

}  // namespace pleat
