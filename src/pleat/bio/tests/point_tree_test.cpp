// Point tree: the points that all distances give, for any spread of points, and in a short time.
#include "pleat/bio/periodic/periodic_cell.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include "pleat/bio/selection/selection.h"
#include "pleat/bio/structure/topology.h"

namespace {

using namespace pleat;

std::vector<Point> random_points(std::size_t count, double edge, std::mt19937& random) {
    std::uniform_real_distribution<double> place(0, edge);
    std::vector<Point> points(count);
    for (Point& point : points) point = {place(random), place(random), place(random)};
    return points;
}

void expect_all(const std::vector<Point>& points, const std::vector<Point>& places,
                double distance) {
    const PointTree tree(points);
    for (const Point& place : places) {
        std::vector<Index> found, wanted;
        tree.for_each_near(place, distance, [&](Index n) { found.push_back(n); });
        for (std::size_t n = 0; n < points.size(); ++n) {
            const Point d = points[n] - place;
            if (dot(d, d) <= distance * distance) wanted.push_back(static_cast<Index>(n));
        }
        std::sort(found.begin(), found.end());
        EXPECT_EQ(found, wanted);
        EXPECT_EQ(tree.has_near(place, distance), !wanted.empty());
    }
}

TEST(PointTree, FindsWhatAllDistancesFind) {
    std::mt19937 random(5);
    const std::vector<Point> places = random_points(50, 14, random);
    for (const std::size_t count : {0U, 1U, 8U, 9U, 300U}) {
        const std::vector<Point> points = random_points(count, 10, random);
        for (const double distance : {0.0, 0.5, 3.0, 1e9}) expect_all(points, places, distance);
        expect_all(points, points, 0);
    }
    std::vector<Point> same(100, {1, 2, 3});
    same.push_back({1e7, 0, 0});
    expect_all(same, {{1, 2, 3}, {1, 2, 4.5}, {1e7, 1, 0}}, 1.5);
}

TEST(PointTree, IsFastWhateverTheDistance) {
    // All pairs of the two halves would take minutes.
    std::mt19937 random(6);
    constexpr std::size_t kAtoms = 400'000;
    Topology topology = unnamed_topology(kAtoms, "made");
    topology.named = true;
    topology.positions = random_points(kAtoms, 100, random);
    for (std::size_t n = kAtoms / 2; n < kAtoms; ++n) topology.positions[n][0] += 160;
    topology.positions.back()[0] = 1e8;  // one atom far from all others
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(select_atoms(topology, "within 1e9 of index 5 to 9").size(), kAtoms);
    EXPECT_EQ(select_atoms(topology, "within 59 of index 0 to 199999").size(), kAtoms / 2);
    EXPECT_EQ(select_atoms(topology, "within 0 of index 7").size(), 1U);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    EXPECT_LT(taken.count(), 60);
}

}  // namespace
