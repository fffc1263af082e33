// Rigid motion: frames on three distant scatterers before and after, checked on all others.
#include "pleat/saxs/session/rigid_motion.h"

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

/// The index of the scatterer for which `measure` is largest.
template <class Measure>
Index farthest(Index first, Index count, const Measure& measure) {
    Index best = first;
    double largest = -1.0;
    for (Index n = first; n < first + count; ++n) {
        const double value = measure(n);
        if (value > largest) {
            largest = value;
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

}  // namespace

bool moves_by(const RigidMotion& motion, View<const float, 2> before, View<const float, 2> after,
              Index first, Index count) {
    const float *x = &before(0, first), *y = &before(1, first), *z = &before(2, first);
    const float *u = &after(0, first), *v = &after(1, first), *w = &after(2, first);
    const float* const r = motion.rotation;
    int off = 0;  // no early exit, so that the compiler can use vectors
    for (Index n = 0; n < count; ++n) {
        const float dx = x[n] - motion.before[0], dy = y[n] - motion.before[1],
                    dz = z[n] - motion.before[2];
        const float du = r[0] * dx + r[1] * dy + r[2] * dz - (u[n] - motion.after[0]);
        const float dv = r[3] * dx + r[4] * dy + r[5] * dz - (v[n] - motion.after[1]);
        const float dw = r[6] * dx + r[7] * dy + r[8] * dz - (w[n] - motion.after[2]);
        off |= du * du + dv * dv + dw * dw > kRigidTolerance * kRigidTolerance;
    }
    return off == 0;
}

Anchors find_anchors(View<const float, 2> xyz, Index first, Index count) {
    const Vector a = point(xyz, first);
    const Index second = farthest(first, count, [&](Index n) {
        const Vector d = less(point(xyz, n), a);
        return dot(d, d);
    });
    const Vector along = less(point(xyz, second), a);
    const Index third = farthest(first, count, [&](Index n) {
        const Vector d = cross(along, less(point(xyz, n), a));
        return dot(d, d);
    });
    return {first, second, third};
}

std::optional<RigidMotion> rigid_motion(const Anchors& anchors, View<const float, 2> before,
                                        View<const float, 2> after, Index first, Index count) {
    const auto triangle = [&](View<const float, 2> xyz) {
        return std::array{point(xyz, anchors[0]), point(xyz, anchors[1]), point(xyz, anchors[2])};
    };
    const auto normal = [](const std::array<Vector, 3>& t) {
        const Vector n = cross(less(t[1], t[0]), less(t[2], t[0]));
        return dot(n, n);
    };
    const auto old = triangle(before), now = triangle(after);
    RigidMotion motion{{1, 0, 0, 0, 1, 0, 0, 0, 1}, {}, {}};
    // Scatterers on a line or at a point have no frame, but may have been shifted.
    constexpr double kFlat = 1e-4;
    if (normal(old) > kFlat && normal(now) > 0.5 * kFlat) {
        const auto from = frame_on(old[0], old[1], old[2]), to = frame_on(now[0], now[1], now[2]);
        for (std::size_t row = 0; row < 3; ++row)
            for (std::size_t column = 0; column < 3; ++column)
                motion.rotation[3 * row + column] =
                    static_cast<float>(to[0][row] * from[0][column] + to[1][row] * from[1][column] +
                                       to[2][row] * from[2][column]);
    }
    for (Index axis = 0; axis < 3; ++axis) {
        motion.before[axis] = before(axis, anchors[0]);
        motion.after[axis] = after(axis, anchors[0]);
    }
    if (!moves_by(motion, before, after, first, count)) return std::nullopt;
    return motion;
}

}  // namespace pleat::saxs
