// Superposed frames, mean structures and fluctuations: known values and what must hold.
#include "pleat/rmsd/superposition/superposition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/rmsd/superposition/frames.h"
#include "pleat/rmsd/superposition/superpose.h"
#include "pleat/rmsd/tests/random_ensemble.h"
#include "pleat/rmsd/tests/turned.h"

namespace pleat::rmsd {
namespace {

Context threads_of(int count) {
    Context context;
    context.threads = count;
    return context;
}

Array<float, 3> copies(Index count, Index atoms, std::uint64_t seed) {
    const Array<float, 3> one = random_ensemble(1, atoms, 0.0, seed);
    Array<float, 3> xyz(count, atoms, Index{3});
    for (Index i = 0; i < count; ++i) std::copy_n(one.data(), 3 * atoms, xyz[i].data);
    return xyz;
}

void turn_all(Array<float, 3>& xyz) {
    std::mt19937_64 generator(5);
    for (Index i = 1; i < xyz.extent(0); ++i) test::turn(xyz[i], generator, 10.0);
}

double distance(View<const double, 2> a, View<const float, 2> b, Index k) {
    return std::hypot(a(k, 0) - b(k, 0), a(k, 1) - b(k, 1), a(k, 2) - b(k, 2));
}

TEST(Superposition, TurnedCopiesComeBack) {
    Array<float, 3> xyz = copies(6, 25, 1);
    turn_all(xyz);
    const Superposer superposer(to_double(xyz[0]), {});
    Array<double, 2> moved(Index{25}, Index{3});
    for (Index i = 0; i < 6; ++i) {
        superposer(xyz[i], moved);
        for (Index k = 0; k < 25; ++k) EXPECT_LE(distance(moved, xyz[0], k), 2e-5);
    }
    const MeanStructure mean = mean_structure(xyz, {}, threads_of(1));
    for (Index k = 0; k < 25; ++k) EXPECT_LE(distance(mean.xyz, xyz[0], k), 2e-5);
    for (const double one : fluctuations(xyz, mean.xyz, {}, threads_of(1)).distance)
        EXPECT_LE(one, 2e-5);
}

TEST(Superposition, ReachesTheRmsdOfTheKernels) {
    const Array<float, 3> xyz = random_ensemble(5, 30, 2.0, 7);
    std::vector<double> weights;
    for (Index k = 0; k < 30; ++k) weights.push_back(1.0 + static_cast<double>(k % 4));
    for (const AtomSets& sets : {AtomSets{}, AtomSets{{}, {}, weights}}) {
        const Frames frames = centre(xyz, sets.weights, 1);
        const Superposer superposer(to_double(xyz[0]), sets);
        Array<double, 2> moved(Index{30}, Index{3});
        for (Index i = 1; i < 5; ++i) {
            superposer(xyz[i], moved);
            double sum = 0.0;
            for (Index k = 0; k < 30; ++k)
                sum += (sets.weights.empty() ? 1.0 : weights[k]) *
                       std::pow(distance(moved, xyz[0], k), 2);
            EXPECT_NEAR(sum, superposed_residual(frames.frame(i), frames.frame(0), 30), 1e-8);
        }
    }
}

// A rod of still atoms and one atom that swings: the still ones alone are superposed.
TEST(Superposition, KnownFluctuations) {
    Array<float, 3> xyz = copies(40, 10, 2);
    const float swings[4] = {1.0f, -1.0f, 2.0f, -2.0f};
    for (Index i = 0; i < 40; ++i) xyz(i, 9, 1) += swings[i % 4];
    turn_all(xyz);
    const AtomSets sets{{0, 1, 2, 3, 4, 5, 6, 7, 8}, {}, {}};
    const MeanStructure mean = mean_structure(xyz, sets, threads_of(2));
    const Fluctuations about_mean = fluctuations(xyz, mean.xyz, sets, threads_of(2));
    for (Index k = 0; k < 9; ++k) EXPECT_LE(about_mean.distance[k], 3e-5);
    EXPECT_NEAR(about_mean.rmsf[9], std::sqrt(2.5), 3e-5);
    EXPECT_NEAR(about_mean.distance[9], std::sqrt(2.5), 3e-5);
    // From the first frame, whose swing is 1: 0, 2, 1 and 3.
    const Fluctuations about_first = fluctuations(xyz, to_double(xyz[0]), sets, threads_of(1));
    EXPECT_NEAR(about_first.rmsf[9], std::sqrt(2.5), 3e-5);
    EXPECT_NEAR(about_first.distance[9], std::sqrt(3.5), 3e-5);
}

TEST(Superposition, MeanMinimisesTheSumOfSquares) {
    Array<float, 3> xyz = random_ensemble(30, 20, 3.0, 9);
    turn_all(xyz);
    const MeanStructure mean = mean_structure(xyz, {}, threads_of(1));
    EXPECT_LT(mean.rounds, 100);
    EXPECT_LT(mean.change, 1e-5);
    const auto spread = [&](View<const double, 2> centre) {
        double sum = 0.0;
        for (const double one : fluctuations(xyz, centre, {}, threads_of(1)).distance)
            sum += one * one;
        return sum;
    };
    const double minimum = spread(mean.xyz);
    for (Index i = 0; i < 30; ++i) EXPECT_GT(spread(to_double(xyz[i])), minimum);
    for (Index n = 0; n < 60; n += 7) {
        Array<double, 2> other = mean.xyz;
        other.data()[n] += 0.05;
        EXPECT_GT(spread(other), minimum);
    }
}

TEST(Superposition, ThreadsAndDegenerateFramesChangeNothingOfIt) {
    const Array<float, 3> xyz = random_ensemble(200, 8, 1.0, 4);
    const MeanStructure one = mean_structure(xyz, {}, threads_of(1));
    const MeanStructure three = mean_structure(xyz, {}, threads_of(3));
    EXPECT_TRUE(std::equal(one.xyz.begin(), one.xyz.end(), three.xyz.begin()));
    EXPECT_EQ(fluctuations(xyz, one.xyz, {}, threads_of(1)).rmsf,
              fluctuations(xyz, one.xyz, {}, threads_of(3)).rmsf);
    // One frame, one atom, atoms at one place, a line.
    Array<float, 3> line(Index{3}, Index{6}, Index{3});
    for (Index i = 0; i < 3; ++i)
        for (Index k = 0; k < 6; ++k) line(i, k, i) = static_cast<float>(k);
    for (const Array<float, 3>& some :
         {random_ensemble(1, 7, 1.0, 1), random_ensemble(4, 1, 1.0, 1),
          Array<float, 3>(Index{3}, Index{5}, Index{3}), line}) {
        const MeanStructure mean = mean_structure(some, {}, threads_of(1));
        const Fluctuations found = fluctuations(some, mean.xyz, {}, threads_of(1));
        for (const double value : found.distance) EXPECT_LE(value, 1e-5);  // and no NaN
        for (const double value : found.rmsf) EXPECT_LE(value, 1e-5);
    }
}

TEST(Superposition, RefusesWhatIsNotFinite) {
    Array<float, 3> xyz = random_ensemble(3, 4, 1.0, 13);
    xyz(2, 1, 0) = std::nanf("");
    EXPECT_THROW(mean_structure(xyz, {}, threads_of(1)), InputError);
}

}  // namespace
}  // namespace pleat::rmsd
