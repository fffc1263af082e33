// Tests of assignment: brute force, ties, cutoffs, blocks and threads.
#include "pleat/rmsd/assign/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "pleat/rmsd/superposition/superposition.h"
#include "pleat/rmsd/tests/random_ensemble.h"

namespace pleat::rmsd {
namespace {

constexpr Index kAtoms = 12;

Context with_threads(int threads) {
    Context context;
    context.threads = threads;
    return context;
}

/// The two nearest of each frame, all blocks one after another.
struct Assigned {
    cluster::Result result;
    std::vector<std::int32_t> nearest, second;
    std::vector<float> distance, second_distance;
};

Assigned assign(View<const float, 3> frames, View<const float, 3> medoids,
                std::optional<double> cutoff = {}, Index block = 1000, int threads = 1,
                const std::vector<double>& weights = {}) {
    Assignment assignment(medoids, weights, cutoff, 0.05, with_threads(threads));
    Assigned all;
    for (Index first = 0; first < frames.extent(0); first += block) {
        const View<const float, 3> part(frames[first].data,
                                        std::min(block, frames.extent(0) - first), frames.extent(1),
                                        Index{3});
        const Nearest nearest = assignment.add(part);
        for (Index n = 0; n < part.extent(0); ++n) {
            all.nearest.push_back(nearest.indices(n, 0));
            all.distance.push_back(nearest.values(n, 0));
            if (medoids.extent(0) == 1) continue;
            all.second.push_back(nearest.indices(n, 1));
            all.second_distance.push_back(nearest.values(n, 1));
        }
    }
    all.result = assignment.finish();
    return all;
}

/// RMSD in float64 by rotation and residual.
double brute_force(View<const float, 2> frame, View<const float, 2> target) {
    const Superposer superposer(to_double(target), {});
    Array<double, 2> moved(frame.extent(0), Index{3});
    superposer(frame, moved);
    double sum = 0;
    for (Index atom = 0; atom < frame.extent(0); ++atom)
        for (Index axis = 0; axis < 3; ++axis)
            sum += std::pow(moved(atom, axis) - target(atom, axis), 2);
    return std::sqrt(sum / static_cast<double>(frame.extent(0)));
}

TEST(Assignment, IsThatOfBruteForce) {
    const Array<float, 3> all = random_ensemble(330, kAtoms, 1.5, 11);
    // Up to 64 structures are compared in another way than more of them.
    for (const Index count : {1, 7, 90}) {
        const View<const float, 3> medoids(all.data(), count, kAtoms, Index{3});
        const View<const float, 3> frames(all[90].data, 240, kAtoms, Index{3});
        const Assigned found = assign(frames, medoids);
        const cluster::Result& result = found.result;
        std::vector<double> sums(count), radii(count);
        std::vector<Index> sizes(count);
        for (Index frame = 0; frame < 240; ++frame) {
            std::vector<double> truth;
            for (Index n = 0; n < count; ++n)
                truth.push_back(brute_force(frames[frame], medoids[n]));
            const auto closest = std::min_element(truth.begin(), truth.end());
            const auto at = static_cast<std::size_t>(closest - truth.begin());
            EXPECT_EQ(found.nearest[frame], static_cast<std::int32_t>(at));
            EXPECT_EQ(result.clustering.assignment[frame], found.nearest[frame]);
            EXPECT_NEAR(found.distance[frame], *closest, 2e-6);
            sums[at] += *closest;
            radii[at] = std::max(radii[at], *closest);
            ++sizes[at];
            std::nth_element(truth.begin(), truth.begin() + (count > 1), truth.end());
            if (count == 1) continue;
            EXPECT_NEAR(found.second_distance[frame], truth[1], 2e-6);
        }
        ASSERT_EQ(static_cast<Index>(result.clusters.size()), count);
        for (Index n = 0; n < count; ++n) {
            const cluster::ClusterDescription& one = result.clusters[n];
            EXPECT_EQ(one.size, sizes[n]);
            EXPECT_EQ(one.medoid < 0, one.size == 0);
            EXPECT_EQ(std::isnan(one.radius), one.size == 0);
            EXPECT_EQ(std::isnan(one.mean), one.size == 0);
            if (one.size == 0) continue;
            EXPECT_NEAR(one.radius, radii[n], 2e-6);
            EXPECT_NEAR(one.mean, sums[n] / static_cast<double>(sizes[n]), 2e-6);
            EXPECT_EQ(found.nearest[one.medoid], n);
        }
        EXPECT_EQ(result.statistics.pairs(), 240 * count);
    }
}

TEST(Assignment, TiesGoToTheLowerNumber) {
    const Array<float, 3> some = random_ensemble(4, kAtoms, 2, 3);
    Array<float, 3> medoids(Index{4}, kAtoms, Index{3});
    for (const auto& [to, from] : {std::pair(0, 1), {1, 0}, {2, 1}, {3, 0}})
        std::copy(some[from].begin(), some[from].end(), medoids[to].data);
    const Assigned found = assign(some, medoids);
    EXPECT_EQ(found.nearest[0], 1);
    EXPECT_EQ(found.second[0], 3);
    EXPECT_EQ(found.nearest[1], 0);
    EXPECT_EQ(found.second[1], 2);
    EXPECT_LT(found.nearest[3], 2);
    EXPECT_NEAR(found.distance[0], 0, 1e-6);
    EXPECT_EQ(found.result.clusters[1].medoid, 0);
    EXPECT_EQ(found.result.clusters[2].size, 0);
}

TEST(Assignment, FramesBeyondTheCutoffAreNoise) {
    const Array<float, 3> all = random_ensemble(200, kAtoms, 1.5, 5);
    const View<const float, 3> medoids(all.data(), 5, kAtoms, Index{3});
    const Assigned free = assign(all, medoids);
    std::vector<float> sorted = free.distance;
    std::sort(sorted.begin(), sorted.end());
    const double cutoff = sorted[80];  // the very value of a frame is not below itself
    const Assigned found = assign(all, medoids, cutoff);
    EXPECT_EQ(found.nearest, free.nearest);
    Index noise = 0, members = 0;
    for (std::size_t n = 0; n < 200; ++n) {
        const bool is_near = free.distance[n] < static_cast<float>(cutoff);
        EXPECT_EQ(found.result.clustering.assignment[n], is_near ? free.nearest[n] : -1);
        noise += !is_near;
    }
    for (const cluster::ClusterDescription& one : found.result.clusters) members += one.size;
    EXPECT_EQ(noise, 120);
    EXPECT_EQ(members, 80);
    EXPECT_EQ(found.result.cutoff, cutoff);
}

TEST(Assignment, HasTheSameBitsForAnyBlocksAndThreads) {
    const Array<float, 3> all = random_ensemble(500, kAtoms, 1.5, 8);
    std::vector<double> weights;
    for (Index atom = 0; atom < kAtoms; ++atom) weights.push_back(1.0 + static_cast<double>(atom));
    for (const Index count : {9, 70}) {
        const View<const float, 3> medoids(all[100].data, count, kAtoms, Index{3});
        const Assigned one = assign(all, medoids, 3.0, 500, 1, weights);
        const Assigned four = assign(all, medoids, 3.0, 500, 4, weights);
        EXPECT_EQ(one.distance, four.distance);
        EXPECT_EQ(one.second_distance, four.second_distance);
        EXPECT_EQ(one.result.clustering.assignment, four.result.clustering.assignment);
        const Assigned small = assign(all, medoids, 3.0, 33, 2, weights);
        EXPECT_EQ(one.result.clustering.assignment, small.result.clustering.assignment);
        EXPECT_EQ(one.nearest, small.nearest);
        EXPECT_NE(one.distance, assign(all, medoids, 3.0).distance) << "weights count";
    }
}

}  // namespace
}  // namespace pleat::rmsd
