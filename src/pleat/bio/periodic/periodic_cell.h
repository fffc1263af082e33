// Periodic cell: points, the box of a simulation, nearest images, and the points near a place.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "pleat/core/view.h"

namespace pleat {

/// x, y and z in angstrom.
using Point = std::array<double, 3>;

inline Point operator+(const Point& a, const Point& b) {
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
inline Point operator-(const Point& a, const Point& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
inline Point operator*(double s, const Point& a) { return {s * a[0], s * a[1], s * a[2]}; }
inline double dot(const Point& a, const Point& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// The three vectors of a periodic cell, in angstrom; all 0 if there is no cell.
struct PeriodicCell {
    std::array<Point, 3> vectors{};

    /// Whether there is a cell. Cells with an edge below 2 angstrom are dummies (the 1 x 1 x 1 of
    /// PDB files that are not crystals) and do not count.
    bool exists() const;
    /// In cubic angstrom; 0 if the vectors lie in one plane.
    double volume() const;
    bool operator==(const PeriodicCell&) const = default;
};

/// From lengths in angstrom and angles in degrees: alpha between b and c, beta between a and c,
/// gamma between a and b. A cell of no volume if no three vectors have these angles.
PeriodicCell make_cell(const Point& lengths, const Point& angles);

/// The periodic images of a point, translated by integer multiples of three vectors: the shortest
/// ones that span the same lattice as the cell (Minkowski reduction).
class Lattice {
public:
    /// How many of each vector.
    using Shift = std::array<std::int32_t, 3>;
    struct Images {
        Shift nearest{};
        double distance = 0;         ///< that is left with `nearest`
        double second_distance = 0;  ///< with the best other shift
    };

    /// `cell` must have a volume.
    explicit Lattice(const PeriodicCell& cell);

    /// The smallest distance between opposite faces of the reduced cell.
    double height() const { return height_; }
    const std::array<Point, 3>& vectors() const { return vectors_; }
    Point translation(const Shift& shift) const;
    /// In units of the reduced vectors.
    Point fractions(const Point& point) const;
    /// The shift whose translation is nearest to `difference`; no shift if the difference exceeds
    /// 1e9 vectors.
    Shift nearest(const Point& difference) const { return images(difference).nearest; }
    Images images(const Point& difference) const;

private:
    std::array<Point, 3> vectors_, inverse_;
    double height_ = 0;
};

/// A k-d tree of points with the bounding box of each node. A query takes about log n steps for
/// has_near() at any distance; for_each_near() additionally visits each point found.
class PointTree {
public:
    /// Points must be finite.
    explicit PointTree(const std::vector<Point>& points);

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
