// Crowd: random spheres for tests of surfaces and of pairs.
#pragma once

#include <random>
#include <vector>

#include "pleat/core/array.h"

namespace pleat::saxs::test {

/// Points in a box, some of them at one place.
struct Crowd {
    Array<float, 2> at;
    std::vector<double> sizes;

    Crowd(Index count, double side, double origin, unsigned seed) : at(3, count) {
        std::mt19937 generator(seed);
        std::uniform_real_distribution<double> place(origin, origin + side), size(1, 2.2);
        for (Index n = 0; n < count; ++n) {
            for (Index axis = 0; axis < 3; ++axis)
                at(axis, n) = static_cast<float>(place(generator));
            sizes.push_back(size(generator));
            if (n < 7 || n % 7 != 0) continue;
            for (Index axis = 0; axis < 3; ++axis) at(axis, n) = at(axis, n - 7);
            if (n % 2 == 0) sizes.back() = sizes[static_cast<std::size_t>(n) - 7];
        }
    }
    double x(Index axis, Index n) const { return static_cast<double>(at(axis, n)); }
};

}  // namespace pleat::saxs::test
