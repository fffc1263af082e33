// Made ensembles: frames around states of one fold, the same for the same seed on any threads.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::bench {

/// Random numbers of one frame or one part of the fold: splitmix64.
class Draws {
public:
    Draws(std::uint64_t seed, std::uint64_t stream) : state_(seed * 0x9e3779b97f4a7c15u + stream) {
        state_ = word() ^ stream * 0xd1342543de82ef95u;
    }
    std::uint64_t word() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
    /// In (0, 1).
    double uniform() { return (static_cast<double>(word() >> 11) + 0.5) * 0x1p-53; }
    double normal() {
        return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
    }

private:
    std::uint64_t state_;
};

/// A fold of `atoms` (a walk of steps of 3.8 angstrom within a ball), `states` smooth deformations
/// of it, the first ones frequent, and frames that bend smoothly around their state, turned and
/// moved. Of 100 atoms the median RMSD is 1.7 angstrom within a state, 5 between two.
class MadeEnsemble {
public:
    MadeEnsemble(Index atoms, Index states, std::uint64_t seed)
        : atoms_(atoms), states_(states), seed_(seed), fold_(make_fold()) {
        for (Index state = 0; state < states; ++state) {
            Draws draws(seed_, (std::uint64_t{1} << 40) + static_cast<std::uint64_t>(state));
            shapes_.push_back(bent(fold_, draws, kStateBend));
        }
    }

    /// [frame, atom, axis], angstrom.
    Array<float, 3> frames(Index count, int threads) const {
        auto xyz = Array<float, 3>::unset(count, atoms_, Index{3});
        parallel_for(threads, count, [&](Index i, int) { make_frame(i, xyz[i].data); });
        return xyz;
    }

private:
    using Points = std::vector<std::array<double, 3>>;
    static constexpr int kModes = 8;
    static constexpr double kStateBend = 2.2, kFrameBend = 0.7, kJitter = 0.2;  // angstrom

    Points make_fold() const {
        Draws draws(seed_, std::uint64_t{2} << 40);
        const double radius = 3.0 * std::cbrt(static_cast<double>(atoms_)) + 4;
        Points fold(static_cast<std::size_t>(atoms_));
        for (std::size_t k = 1; k < fold.size(); ++k) {
            double square = 0.0;
            do {
                std::array<double, 3> step{draws.normal(), draws.normal(), draws.normal()};
                const double size = std::hypot(step[0], step[1], step[2]);
                square = 0.0;
                for (int axis = 0; axis < 3; ++axis) {
                    fold[k][axis] = fold[k - 1][axis] + 3.8 * step[axis] / size;
                    square += fold[k][axis] * fold[k][axis];
                }
            } while (square > radius * radius);
        }
        return fold;
    }

    /// Moves atoms by waves along the chain, the longer the larger.
    Points bent(const Points& from, Draws& draws, double size) const {
        Points to = from;
        for (int mode = 1; mode <= kModes; ++mode) {
            std::array<double, 3> wave{};
            for (double& part : wave) part = size * draws.normal() / std::sqrt(mode);
            const double phase = 2 * std::numbers::pi * draws.uniform();
            for (Index k = 0; k < atoms_; ++k) {
                const double along = static_cast<double>(k) / static_cast<double>(atoms_);
                const double height = std::cos(std::numbers::pi * mode * along + phase);
                for (int axis = 0; axis < 3; ++axis) to[k][axis] += wave[axis] * height;
            }
        }
        return to;
    }

    void make_frame(Index i, float* to) const {
        Draws draws(seed_, static_cast<std::uint64_t>(i));
        const double place = draws.uniform();
        const Points at =
            bent(shapes_[static_cast<std::size_t>(place * place * static_cast<double>(states_))],
                 draws, kFrameBend);
        std::array<double, 4> q{draws.normal(), draws.normal(), draws.normal(), draws.normal()};
        const double size = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (double& part : q) part /= size;
        const auto [w, x, y, z] = q;
        const double m[3][3] = {
            {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
        const double shift[3] = {50 * draws.uniform(), 50 * draws.uniform(), 50 * draws.uniform()};
        for (Index k = 0; k < atoms_; ++k) {
            double p[3];
            for (int axis = 0; axis < 3; ++axis) p[axis] = at[k][axis] + kJitter * draws.normal();
            for (int axis = 0; axis < 3; ++axis)
                to[3 * k + axis] = static_cast<float>(m[axis][0] * p[0] + m[axis][1] * p[1] +
                                                      m[axis][2] * p[2] + shift[axis]);
        }
    }

    Index atoms_, states_;
    std::uint64_t seed_;
    Points fold_;
    std::vector<Points> shapes_;
};

}  // namespace pleat::bench
