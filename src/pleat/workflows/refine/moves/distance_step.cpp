// Distance step: a tangent step on the surface of equal distance, projected along the gradient
// (Zappa, Holmes-Cerfon, Goodman, Comm. Pure Appl. Math. 71:2609, 2018).
#include "pleat/workflows/refine/moves/distance_step.h"

#include <cmath>

namespace pleat::refine {

namespace {

constexpr double kFlat = 1e-4;          // angstrom / radian: steepness that counts as none
constexpr double kSameDistance = 1e-9;  // angstrom
constexpr double kSameAngles = 1e-5;    // radians, of all torsions together
constexpr int kMaxIterations = 12;

double dot(const Turns& a, const Turns& b) {
    double sum = 0;
    for (std::size_t n = 0; n < kMaxTurning; ++n) sum += a[n] * b[n];
    return sum;
}

/// a + factor b
Turns sum(const Turns& a, double factor, const Turns& b) {
    Turns result;
    for (std::size_t n = 0; n < kMaxTurning; ++n) result[n] = a[n] + factor * b[n];
    return result;
}

Turns without(const Turns& part, const Turns& of) {
    return sum(of, -dot(of, part) / dot(part, part), part);
}

/// Newton's method for the multiple of `direction` that, added to `from`, has the distance.
std::optional<Turns> project(const TorsionPath& path, const Turns& from, const Turns& direction,
                             double distance) {
    Turns at = from;
    for (int n = 0; n < kMaxIterations; ++n) {
        const TorsionPath::Slope slope = path.slope(at);
        const double left = distance - slope.distance;
        if (std::abs(left) < kSameDistance) return at;
        at = sum(at, left / dot(slope.gradient, direction), direction);
    }
    return std::nullopt;
}

}  // namespace

double TorsionPath::Slope::steepness() const { return std::sqrt(dot(gradient, gradient)); }

TorsionPath::Slope TorsionPath::slope(const Turns& turns) const {
    // Seen from between torsions n - 1 and n, the points are `firsts[n]`, which the torsions before
    // have turned back, and `end`, which the torsions behind have turned.
    std::array<Vector, kMaxTurning> firsts;
    std::array<Transform, kMaxTurning> rotations;
    Vector start = first, end = last;
    for (std::size_t n = 0; n < torsions.size(); ++n) {
        firsts[n] = start;
        rotations[n] = rotation_about(torsions[n].origin, torsions[n].axis, turns[n]);
        start = inverse(rotations[n])(start);
    }
    Slope result{.distance = refine::distance(start, end)};
    for (std::size_t n = torsions.size(); n-- > 0;) {
        const auto& [origin, axis] = torsions[n];
        end = rotations[n](end);
        result.gradient[n] =
            refine::dot(end - firsts[n], cross(axis, end - origin)) / result.distance;
    }
    return result;
}

std::optional<DistanceStep> distance_step(const TorsionPath& path, const Turns& normal,
                                          double width) {
    // Comparisons also fail for the NaN of points at one place.
    const TorsionPath::Slope before = path.slope({});
    if (!(before.steepness() > kFlat)) return std::nullopt;
    const Turns tangent = without(before.gradient, sum({}, width, normal));
    const auto there = project(path, tangent, before.gradient, before.distance);
    if (!there) return std::nullopt;
    const TorsionPath::Slope after = path.slope(*there);
    if (!(after.steepness() > kFlat)) return std::nullopt;
    const Turns tangent_back = without(after.gradient, sum({}, -1, *there));
    const auto returned =
        project(path, sum(*there, 1, tangent_back), after.gradient, before.distance);
    if (!returned || dot(*returned, *returned) > kSameAngles * kSameAngles) return std::nullopt;
    return DistanceStep{
        *there, (dot(tangent, tangent) - dot(tangent_back, tangent_back)) / (2 * width * width) +
                    std::log(before.steepness() / after.steepness())};
}

}  // namespace pleat::refine
