// Periodic cell: lengths and angles to vectors, reduction of a lattice, nearest images, and halves
// of points along their longest edge.
#include "pleat/bio/periodic/periodic_cell.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace pleat {

namespace {

constexpr double kMinEdge = 2.0;

double length(const Point& v) { return std::sqrt(dot(v, v)); }

Point cross(const Point& a, const Point& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Reduces the vectors to shorter ones of the same lattice until none can be shortened.
std::array<Point, 3> reduced(std::array<Point, 3> v) {
    // A vector must become shorter by more than rounding, so that the loop ends.
    constexpr double kShorter = 1 - 1e-12;
    for (bool changed = true; changed;) {
        changed = false;
        std::ranges::stable_sort(
            v, [](const Point& a, const Point& b) { return dot(a, a) < dot(b, b); });
        const double n = std::round(dot(v[1], v[0]) / dot(v[0], v[0]));
        const Point second = v[1] - n * v[0];
        if (dot(second, second) < kShorter * dot(v[1], v[1])) {
            v[1] = second;
            changed = true;
            continue;
        }
        // The multiples of the two shorter vectors that are nearest to the third.
        const double aa = dot(v[0], v[0]), bb = dot(v[1], v[1]), ab = dot(v[0], v[1]);
        const double ac = dot(v[0], v[2]), bc = dot(v[1], v[2]), det = aa * bb - ab * ab;
        const double i0 = std::round((ac * bb - bc * ab) / det);
        const double j0 = std::round((bc * aa - ac * ab) / det);
        Point best = v[2];
        for (int i = -1; i <= 1; ++i)
            for (int j = -1; j <= 1; ++j) {
                const Point third = v[2] - (i0 + i) * v[0] - (j0 + j) * v[1];
                if (dot(third, third) < kShorter * dot(best, best)) best = third;
            }
        changed = best != v[2];
        v[2] = best;
    }
    return v;
}

}  // namespace

bool PeriodicCell::exists() const {
    return std::ranges::none_of(vectors, [](const Point& v) { return length(v) < kMinEdge; });
}

double PeriodicCell::volume() const {
    const double volume = std::abs(dot(vectors[0], cross(vectors[1], vectors[2])));
    const double edges = length(vectors[0]) * length(vectors[1]) * length(vectors[2]);
    // Flatter cells come from vectors in one plane plus rounding.
    return volume > 1e-6 * edges && std::isfinite(volume) ? volume : 0.0;
}

PeriodicCell make_cell(const Point& lengths, const Point& angles) {
    constexpr double kRadian = std::numbers::pi / 180;
    const double cos_alpha = std::cos(angles[0] * kRadian),
                 cos_beta = std::cos(angles[1] * kRadian),
                 cos_gamma = std::cos(angles[2] * kRadian),
                 sin_gamma = std::sin(angles[2] * kRadian);
    const double y = (cos_alpha - cos_beta * cos_gamma) / sin_gamma;
    const double z2 = 1 - cos_beta * cos_beta - y * y;
    const bool is_cell = sin_gamma > 0 && z2 > 0;
    PeriodicCell cell;
    cell.vectors[0] = {lengths[0], 0, 0};
    cell.vectors[1] = {lengths[1] * cos_gamma, lengths[1] * sin_gamma, 0};
    cell.vectors[2] = is_cell
                          ? Point{lengths[2] * cos_beta, lengths[2] * y, lengths[2] * std::sqrt(z2)}
                          : Point{lengths[2], 0, 0};
    return cell;
}

Lattice::Lattice(const PeriodicCell& cell) : vectors_(reduced(cell.vectors)) {
    const Point faces[3] = {cross(vectors_[1], vectors_[2]), cross(vectors_[2], vectors_[0]),
                            cross(vectors_[0], vectors_[1])};
    const double volume = dot(vectors_[0], faces[0]);
    height_ = std::numeric_limits<double>::max();
    for (std::size_t axis = 0; axis < 3; ++axis) {
        inverse_[axis] = (1 / volume) * faces[axis];
        height_ = std::min(height_, std::abs(volume) / length(faces[axis]));
    }
}

Point Lattice::translation(const Shift& shift) const {
    return double(shift[0]) * vectors_[0] + double(shift[1]) * vectors_[1] +
           double(shift[2]) * vectors_[2];
}

Point Lattice::fractions(const Point& point) const {
    return {dot(inverse_[0], point), dot(inverse_[1], point), dot(inverse_[2], point)};
}

Lattice::Images Lattice::images(const Point& difference) const {
    constexpr double kMaxCount = 1e9;
    const Point fraction = fractions(difference);
    for (const double x : fraction)
        if (!(std::abs(x) < kMaxCount)) return {};
    const auto whole = [](double x) { return static_cast<std::int32_t>(std::round(x)); };
    const Shift middle = {whole(fraction[0]), whole(fraction[1]), whole(fraction[2])};
    const Point rest = difference - translation(middle);
    // Up to half the height, the distance to `middle` is the smallest; beyond it another image may
    // be nearer.
    Images images{middle, std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
    for (std::int32_t i = -1; i <= 1; ++i)
        for (std::int32_t j = -1; j <= 1; ++j)
            for (std::int32_t k = -1; k <= 1; ++k) {
                const double distance = length(rest - translation({i, j, k}));
                if (distance < images.distance) {
                    images.second_distance = images.distance;
                    images.distance = distance;
                    images.nearest = {middle[0] + i, middle[1] + j, middle[2] + k};
                } else {
                    images.second_distance = std::min(images.second_distance, distance);
                }
            }
    return images;
}

namespace {

constexpr Index kLeaf = 8;  // points that are not divided further

}  // namespace

PointTree::PointTree(const std::vector<Point>& points) : order_(points.size()), points_(points) {
    std::iota(order_.begin(), order_.end(), Index{0});
    if (points.empty()) return;
    nodes_.push_back({{}, {}, 0, std::ssize(points)});
    for (std::size_t n = 0; n < nodes_.size(); ++n) fill(n);
    for (std::size_t i = 0; i < order_.size(); ++i) points_[i] = points[order_[i]];
}

/// Sets the bounding box of a node and adds its children. Points keep their order until all nodes
/// are built.
void PointTree::fill(std::size_t number) {
    Node node = nodes_[number];
    const auto begin = order_.begin() + node.first, end = order_.begin() + node.last;
    node.min = node.max = points_[*begin];
    for (auto at = begin; at != end; ++at)
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double x = points_[*at][axis];
            node.min[axis] = std::min(node.min[axis], x);
            node.max[axis] = std::max(node.max[axis], x);
        }
    if (node.last - node.first > kLeaf) {
        const Point edges = node.max - node.min;
        const auto axis = static_cast<std::size_t>(std::ranges::max_element(edges) - edges.begin());
        const Index middle = node.first + (node.last - node.first) / 2;
        std::nth_element(begin, order_.begin() + middle, end,
                         [&](Index a, Index b) { return points_[a][axis] < points_[b][axis]; });
        node.left = std::ssize(nodes_);
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
        const Node& node = nodes_[waiting.back()];
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
            const Point d = points_[n] - place;
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
        visit(order_[n]);
        return true;
    });
}

}  // namespace pleat
