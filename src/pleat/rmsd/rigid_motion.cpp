// Rigid motion: weighted means taken off, and Horn's rotation of what is left.
#include "pleat/rmsd/rigid_motion.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "pleat/rmsd/superpose.h"

namespace pleat::rmsd {

namespace {

/// Coordinates about their mean times roots of weights, [axis, atom], the largest of them 1.
std::vector<double> centred(View<const float, 2> frame, std::span<const double> weights,
                            double (&mean)[3]) {
    const Index atoms = frame.extent(0);
    const auto weight = [&](Index k) { return weights.empty() ? 1.0 : weights[k]; };
    std::vector<double> to(static_cast<std::size_t>(3 * atoms));
    double total = 0.0, largest = 0.0;
    for (Index k = 0; k < atoms; ++k) total += weight(k);
    for (Index axis = 0; axis < 3; ++axis) {
        const double guess = frame(0, axis);
        double sum = 0.0;
        for (Index k = 0; k < atoms; ++k) sum += weight(k) * (frame(k, axis) - guess);
        mean[axis] = guess + sum / total;
        for (Index k = 0; k < atoms; ++k) {
            double& value = to[axis * atoms + k];
            value = std::sqrt(weight(k)) * (frame(k, axis) - guess - sum / total);
            largest = std::max(largest, std::fabs(value));
        }
    }
    if (largest > 0)
        for (double& value : to) value /= largest;
    return to;
}

}  // namespace

void RigidMotion::move(double (&x)[3]) const {
    const double y[3] = {x[0] - from[0], x[1] - from[1], x[2] - from[2]};
    for (int a = 0; a < 3; ++a)
        x[a] = rotation[3 * a] * y[0] + rotation[3 * a + 1] * y[1] + rotation[3 * a + 2] * y[2] +
               to[a];
}

RigidMotion best_motion(View<const float, 2> moving, View<const float, 2> target,
                        std::span<const double> weights) {
    RigidMotion motion;
    const std::vector<double> p = centred(moving, weights, motion.from),
                              q = centred(target, weights, motion.to);
    best_rotation(p.data(), q.data(), moving.extent(0), motion.rotation);
    return motion;
}

}  // namespace pleat::rmsd
