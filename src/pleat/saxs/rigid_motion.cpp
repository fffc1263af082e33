// Rigid motion: frames on three far scatterers before and after, and a look at all others.
#include "pleat/saxs/rigid_motion.h"

#include <array>
#include <cmath>

namespace pleat::saxs {

namespace {

using Vector = std::array<double, 3>;

Vector point(View<const float, 2> xyz, Index n) { return {xyz(0, n), xyz(1, n), xyz(2, n)}; }
Vector less(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Vector unit(const Vector& a) {
    const double size = std::sqrt(dot(a, a));
    return {a[0] / size, a[1] / size, a[2] / size};
}

/// The slot with the largest value of `measure`.
template <class Measure>
Index farthest(Index first, Index count, const Measure& measure) {
    Index best = first;
    double most = -1.0;
    for (Index n = first; n < first + count; ++n) {
        const double value = measure(n);
        if (value > most) {
            most = value;
            best = n;
        }
    }
    return best;
}

/// Three unit vectors at right angles on a triangle.
std::array<Vector, 3> frame_on(const Vector& a, const Vector& b, const Vector& c) {
    const Vector x = unit(less(b, a)), z = unit(cross(x, less(c, a)));
    return {x, cross(z, x), z};
}

Vector apply(const RigidMotion& motion, const Vector& x) {
    Vector to;
    for (std::size_t row = 0; row < 3; ++row)
        to[row] = motion.rotation[3 * row] * x[0] + motion.rotation[3 * row + 1] * x[1] +
                  motion.rotation[3 * row + 2] * x[2] + motion.shift[row];
    return to;
}

}  // namespace

bool follows(const RigidMotion& motion, View<const float, 2> before, View<const float, 2> after,
             Index first, Index count) {
    for (Index n = first; n < first + count; ++n) {
        const Vector off = less(apply(motion, point(before, n)), point(after, n));
        if (!(dot(off, off) <= kRigidTolerance * kRigidTolerance)) return false;
    }
    return true;
}

std::optional<RigidMotion> rigid_motion(View<const float, 2> before, View<const float, 2> after,
                                        Index first, Index count) {
    const Vector a = point(before, first);
    const Index second = farthest(first, count, [&](Index n) {
        const Vector d = less(point(before, n), a);
        return dot(d, d);
    });
    const Vector along = less(point(before, second), a);
    const Index third = farthest(first, count, [&](Index n) {
        const Vector d = cross(along, less(point(before, n), a));
        return dot(d, d);
    });
    const Vector across = cross(along, less(point(before, third), a));
    RigidMotion motion{{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    // Scatterers on a line or at a point: no frame, but a shift may do.
    if (dot(across, across) > 1e-4) {
        const auto from = frame_on(a, point(before, second), point(before, third));
        const Vector b = less(point(after, second), point(after, first));
        const Vector c = less(point(after, third), point(after, first));
        const Vector normal = cross(b, c);
        if (!(dot(normal, normal) > 1e-5)) return std::nullopt;
        const auto to = frame_on(point(after, first), point(after, second), point(after, third));
        for (std::size_t row = 0; row < 3; ++row)
            for (std::size_t column = 0; column < 3; ++column)
                motion.rotation[3 * row + column] = to[0][row] * from[0][column] +
                                                    to[1][row] * from[1][column] +
                                                    to[2][row] * from[2][column];
    }
    const Vector turned = apply(motion, a);
    for (std::size_t axis = 0; axis < 3; ++axis)
        motion.shift[axis] = point(after, first)[axis] - turned[axis];
    if (!follows(motion, before, after, first, count)) return std::nullopt;
    return motion;
}

}  // namespace pleat::saxs
