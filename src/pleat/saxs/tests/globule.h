// Globules: bodies spread evenly in a ball as dense as protein, for tests and benchmarks.
#pragma once

#include <cmath>

#include "random_model.h"

namespace pleat::saxs::test {

/// `volume` angstrom^3 a scatterer: 70 of the two-body model, 15 of heavy atoms.
inline RandomScatterers globule(RandomShape shape, double volume) {
    RandomScatterers result = random_scatterers(shape);
    std::mt19937_64 generator(shape.seed + 1);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    const double radius =
        std::cbrt(0.75 / 3.141592653589793 * volume * static_cast<double>(shape.scatterers));
    for (Index frame = 0; frame < shape.frames; ++frame) {
        for (Index i = 0; i < shape.scatterers; ++i) {
            double x[3];
            do
                for (double& value : x) value = uniform(generator);
            while (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] > 1.0);
            for (Index axis = 0; axis < 3; ++axis)
                result.xyz(frame, axis, i) = static_cast<float>(radius * x[axis]);
        }
    }
    return result;
}

/// The size that the paper times: 1888 bodies of 21 types, 51 q.
inline RandomScatterers paper_size(Index q = 51, Index frames = 1) {
    return globule({.scatterers = 1888,
                    .types = 21,
                    .q = q,
                    .step = 0.75 / static_cast<double>(q - 1),
                    .frames = frames},
                   70.0);
}

/// Two in five bodies, and the others.
inline std::vector<std::int32_t> two_parts(Index count) {
    std::vector<std::int32_t> bodies;
    for (Index i = 0; i < count; ++i) bodies.push_back(i < 2 * count / 5 ? 0 : 1);
    return bodies;
}

}  // namespace pleat::saxs::test
