// Turns: random moves of scatterers, rigid and not, for tests of sessions.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "pleat/core/array.h"

namespace pleat::saxs::test {

class Sampler {
public:
    Sampler(std::vector<std::int32_t> bodies, std::uint64_t seed)
        : bodies_(std::move(bodies)), generator_(seed) {}

    /// Scatterers and their new positions: a body turned and shifted, a few scatterers shaken, or
    /// one moved.
    std::pair<std::vector<Index>, Array<float, 2>> move(const Array<float, 2>& now) {
        const auto kind = generator_() % 3;
        const Index count = static_cast<Index>(bodies_.size());
        std::vector<Index> moved;
        if (kind == 0) {
            const std::int32_t body = bodies_[generator_() % static_cast<std::uint64_t>(count)];
            for (Index i = 0; i < count; ++i)
                if (bodies_[static_cast<std::size_t>(i)] == body) moved.push_back(i);
            return {moved, turned(now, moved)};
        }
        const Index few = kind == 1 ? 7 : 1,
                    first = static_cast<Index>(generator_() %
                                               static_cast<std::uint64_t>(count - few + 1));
        for (Index i = first; i < first + few; ++i) moved.push_back(i);
        Array<float, 2> xyz(Index{3}, few);
        for (Index axis = 0; axis < 3; ++axis)
            for (Index n = 0; n < few; ++n)
                xyz(axis, n) = now(axis, first + n) + static_cast<float>(0.3 * normal_(generator_));
        return {moved, xyz};
    }

    /// These scatterers turned about the first of them, and shifted.
    Array<float, 2> turned(const Array<float, 2>& now, const std::vector<Index>& moved) {
        double q[4], norm = 0.0;
        q[0] = 3.0;
        for (int n = 1; n < 4; ++n) q[n] = normal_(generator_);
        for (const double value : q) norm += value * value;
        for (double& value : q) value /= std::sqrt(norm);
        const double w = q[0], x = q[1], y = q[2], z = q[3];
        const double rotation[3][3] = {
            {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
        double shift[3];
        for (double& value : shift) value = 0.5 * normal_(generator_);
        Array<float, 2> xyz(Index{3}, static_cast<Index>(moved.size()));
        for (Index n = 0; n < xyz.extent(1); ++n) {
            for (Index row = 0; row < 3; ++row) {
                double sum = shift[row] + double{now(row, moved[0])};
                for (Index axis = 0; axis < 3; ++axis)
                    sum += rotation[row][axis] *
                           (double{now(axis, moved[static_cast<std::size_t>(n)])} -
                            double{now(axis, moved[0])});
                xyz(row, n) = static_cast<float>(sum);
            }
        }
        return xyz;
    }

private:
    std::vector<std::int32_t> bodies_;
    std::mt19937_64 generator_;
    std::normal_distribution<double> normal_;
};

}  // namespace pleat::saxs::test
