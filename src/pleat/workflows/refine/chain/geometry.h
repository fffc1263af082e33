// Geometry: vectors, points by axis, rotations about axes, angles and dihedral angles in float64.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace pleat::refine {

struct Vector {
    double x = 0, y = 0, z = 0;

    bool operator==(const Vector&) const = default;
};

inline Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vector operator*(double s, Vector a) { return {s * a.x, s * a.y, s * a.z}; }
inline double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vector cross(Vector a, Vector b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double length(Vector a) { return std::sqrt(dot(a, a)); }
inline double distance(Vector a, Vector b) { return length(a - b); }
inline Vector unit(Vector a) { return (1.0 / length(a)) * a; }

/// A rotation followed by a translation: x' = rotation x + shift.
struct Transform {
    std::array<double, 9> rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1};  ///< row-major
    Vector shift;

    bool operator==(const Transform&) const = default;

    Vector turned(Vector a) const {
        const auto& r = rotation;
        return {r[0] * a.x + r[1] * a.y + r[2] * a.z, r[3] * a.x + r[4] * a.y + r[5] * a.z,
                r[6] * a.x + r[7] * a.y + r[8] * a.z};
    }
    Vector operator()(Vector a) const { return turned(a) + shift; }
};

/// Points by axis.
template <class Real>
struct CoordinatesOf {
    std::vector<Real> x, y, z;

    Vector at(std::size_t n) const { return {x[n], y[n], z[n]}; }
    void set(std::size_t n, Vector to) {
        x[n] = static_cast<Real>(to.x);
        y[n] = static_cast<Real>(to.y);
        z[n] = static_cast<Real>(to.z);
    }
    void push_back(Vector point) {
        resize(x.size() + 1);
        set(x.size() - 1, point);
    }
    void resize(std::size_t count) {
        x.resize(count);
        y.resize(count);
        z.resize(count);
    }
};
using Coordinates = CoordinatesOf<double>;

/// Writes the transformed points [first, last) to the beginning of other arrays. The compiler
/// vectorises it.
template <class Real>
void write_moved(const Transform& move, const Coordinates& points, std::size_t first,
                 std::size_t last, Real* __restrict to_x, Real* __restrict to_y,
                 Real* __restrict to_z) {
    const double *const x = points.x.data() + first, *const y = points.y.data() + first,
                        *const z = points.z.data() + first;
    const Transform by = move;
    for (std::size_t n = 0; n < last - first; ++n) {
        const Vector at = by({x[n], y[n], z[n]});
        to_x[n] = static_cast<Real>(at.x);
        to_y[n] = static_cast<Real>(at.y);
        to_z[n] = static_cast<Real>(at.z);
    }
}

/// The transform that applies `second` first, then `first`.
inline Transform operator*(const Transform& first, const Transform& second) {
    Transform product;
    for (std::size_t row = 0; row < 3; ++row)
        for (std::size_t column = 0; column < 3; ++column)
            product.rotation[3 * row + column] =
                first.rotation[3 * row] * second.rotation[column] +
                first.rotation[3 * row + 1] * second.rotation[3 + column] +
                first.rotation[3 * row + 2] * second.rotation[6 + column];
    product.shift = first(second.shift);
    return product;
}

inline Transform inverse(const Transform& transform) {
    const auto& r = transform.rotation;
    Transform back;
    back.rotation = {r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]};
    back.shift = -1.0 * back.turned(transform.shift);
    return back;
}

/// Rodrigues' rotation by `angle` about the axis through `origin` with direction `axis`, a unit
/// vector: x' = origin + c v + s (axis x v) + (1 - c) (axis . v) axis, v = x - origin.
inline Transform rotation_about(Vector origin, Vector axis, double angle) {
    const double c = std::cos(angle), s = std::sin(angle), d = 1 - c;
    const auto [x, y, z] = axis;
    Transform turn;
    turn.rotation = {c + d * x * x,     d * x * y - s * z, d * x * z + s * y,
                     d * x * y + s * z, c + d * y * y,     d * y * z - s * x,
                     d * x * z - s * y, d * y * z + s * x, c + d * z * z};
    turn.shift = origin - turn.turned(origin);
    return turn;
}

/// The angle a-b-c in radians, from 0 to pi.
inline double bond_angle(Vector a, Vector b, Vector c) {
    const Vector u = a - b, v = c - b;
    return std::atan2(length(cross(u, v)), dot(u, v));
}

/// The dihedral angle a-b-c-d in radians by IUPAC's sign, from -pi to pi.
inline double dihedral_angle(Vector a, Vector b, Vector c, Vector d) {
    const Vector axis = c - b, left = cross(b - a, axis), right = cross(axis, d - c);
    return std::atan2(dot(cross(left, right), axis) / length(axis), dot(left, right));
}

/// The point at `bond` from c, with the angle b-c-point and the dihedral angle a-b-c-point.
inline Vector point_from_internal(Vector a, Vector b, Vector c, double bond, double bend,
                                  double dihedral) {
    const Vector u = unit(c - b), n = unit(cross(b - a, u)), m = cross(n, u);
    return c + bond * (-std::cos(bend) * u + std::sin(bend) * std::cos(dihedral) * m +
                       std::sin(bend) * std::sin(dihedral) * n);
}

/// The same angle in [-pi, pi).
inline double wrapped(double angle) {
    constexpr double kTurn = 2 * std::numbers::pi;
    const double remainder = angle - kTurn * std::floor((angle + std::numbers::pi) / kTurn);
    return remainder < std::numbers::pi ? remainder : remainder - kTurn;
}

}  // namespace pleat::refine
