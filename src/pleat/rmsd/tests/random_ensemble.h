// Random ensembles: frames scattered around one random walk, for tests and benchmarks.
#pragma once

#include <cstdint>
#include <random>

#include "pleat/core/array.h"

namespace pleat::rmsd {

/// [frame, atom, axis]: a walk of steps of 2 angstrom along each axis, each atom moved by `spread`.
inline Array<float, 3> random_ensemble(Index frames, Index atoms, double spread,
                                       std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    Array<double, 2> walk(atoms, Index{3});
    for (Index k = 1; k < atoms; ++k)
        for (int axis = 0; axis < 3; ++axis)
            walk(k, axis) = walk(k - 1, axis) + 2 * normal(generator);
    Array<float, 3> xyz(frames, atoms, Index{3});
    for (Index i = 0; i < frames; ++i)
        for (Index k = 0; k < atoms; ++k)
            for (int axis = 0; axis < 3; ++axis)
                xyz(i, k, axis) = static_cast<float>(walk(k, axis) + spread * normal(generator));
    return xyz;
}

}  // namespace pleat::rmsd
