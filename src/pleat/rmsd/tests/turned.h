// Rigid motions of structures, for tests.
#pragma once

#include <array>
#include <cmath>
#include <random>

#include "pleat/core/view.h"

namespace pleat::rmsd::test {

/// Rotated about a random axis and moved by about `far`; mirrored in x first where asked for.
inline void turn(View<float, 2> frame, std::mt19937_64& generator, double far,
                 bool mirrored = false) {
    std::normal_distribution<double> normal;
    std::array<double, 4> q{normal(generator), normal(generator), normal(generator),
                            normal(generator)};
    double size = 0.0;
    for (const double part : q) size += part * part;
    for (double& part : q) part /= std::sqrt(size);
    const auto [w, x, y, z] = q;
    const double m[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    const double shift[3] = {far * normal(generator), far * normal(generator),
                             far * normal(generator)};
    for (Index k = 0; k < frame.extent(0); ++k) {
        const double p[3] = {mirrored ? -frame(k, 0) : frame(k, 0), frame(k, 1), frame(k, 2)};
        for (int axis = 0; axis < 3; ++axis)
            frame(k, axis) = static_cast<float>(m[axis][0] * p[0] + m[axis][1] * p[1] +
                                                m[axis][2] * p[2] + shift[axis]);
    }
}

}  // namespace pleat::rmsd::test
