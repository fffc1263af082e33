// Sums of sines by moments in bins, against sines of float64, on every instruction set.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "pleat/saxs/debye/distance_moments.h"

namespace pleat::saxs {
namespace {

std::vector<double> even_q(Index count, double first, double step) {
    std::vector<double> q;
    for (Index k = 0; k < count; ++k) q.push_back(first + step * static_cast<double>(k));
    return q;
}

/// Sums of `distances` by moments; `weights` [distance] for a second weighting.
Array<double, 2> by_moments(const SineGrid& grid, const std::vector<float>& distances,
                            const std::vector<float>& weights, double reach) {
    MomentTable table(grid);
    table.extend_to(reach);
    DistanceMoments moments(table, {2, true});
    begin_moments(moments, reach);
    DistanceChunk<float> chunk(2);
    double total[2] = {static_cast<double>(distances.size()), 0.0};
    for (std::size_t n = 0; n < distances.size(); ++n) {
        total[1] += double{weights[n]};
        chunk.squared(chunk.count) = distances[n] * distances[n];
        chunk.weight(1)[chunk.count++] = weights[n];
        if (chunk.count == kChunk) add_chunk(moments, chunk);
    }
    add_chunk(moments, chunk);
    Array<double, 2> result(Index{2}, grid.count);
    take_sums(moments, total, result);
    return result;
}

/// Each sum within `tolerance` of the sum of all weights.
void expect_sums(const std::vector<double>& q, const std::vector<float>& distances,
                 double tolerance) {
    std::mt19937 generator(1);
    std::uniform_real_distribution<float> uniform(0.0f, 2.0f);
    std::vector<float> weights;
    double reach = 0.0, total = 0.0;
    for (const float r : distances) {
        weights.push_back(uniform(generator));
        total += double{weights.back()};
        reach = std::max(reach, double{r});
    }
    const SineGrid grid(q);
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        const Array<double, 2> found = by_moments(grid, distances, weights, reach);
        for (Index k = 0; k < grid.count; ++k) {
            double sum = 0.0, weighted = 0.0;
            for (std::size_t n = 0; n < distances.size(); ++n) {
                const double x = q[static_cast<std::size_t>(k)] * double{distances[n]};
                const double sine = x > 0.0 ? std::sin(x) / x : 1.0;
                sum += sine;
                weighted += sine * double{weights[n]};
            }
            const std::string where =
                std::string(hwy::TargetName(target)) + " q " + std::to_string(k);
            ASSERT_NEAR(found(0, k), sum, tolerance * static_cast<double>(distances.size()))
                << where;
            ASSERT_NEAR(found(1, k), weighted, tolerance * total) << where;
        }
    }
    hwy::SetSupportedTargetsForTest(0);
}

std::vector<float> spread(std::size_t count, float smallest, float largest) {
    std::mt19937 generator(2);
    std::uniform_real_distribution<float> uniform(smallest, largest);
    std::vector<float> distances;
    for (std::size_t n = 0; n < count; ++n) distances.push_back(uniform(generator));
    return distances;
}

// Not the sines' errors but those of q r in float32, which grow with it, are what is left.
TEST(Moments, GiveTheSumsOfSines) {
    for (const std::size_t count : {1u, 15u, 16u, 255u, 256u, 257u, 5000u, 40000u})
        expect_sums(even_q(51, 0.0, 0.015), spread(count, 0.0f, 120.0f), 5e-7);
    expect_sums(even_q(501, 0.0, 0.001), spread(2000, 2.0f, 400.0f), 5e-7);
    expect_sums(even_q(17, 0.013, 0.3), spread(2000, 0.0f, 60.0f), 5e-7);
    expect_sums({0.0, 0.01, 0.5, 2.7}, spread(2000, 0.0f, 60.0f), 5e-7);
    expect_sums({0.25}, spread(2000, 0.0f, 60.0f), 5e-7);
}

TEST(Moments, KnowDistancesAtTheEdgesOfBins) {
    const std::vector<double> q = even_q(51, 0.0, 0.015);
    const SineGrid grid(q);
    const float width = 1.0f / MomentTable(grid).bins_per_angstrom;
    for (int bin = 0; bin < 40; ++bin) {
        const float edge = width * (static_cast<float>(bin) + 0.5f);
        expect_sums(q, {edge, std::nextafter(edge, 0.0f), std::nextafter(edge, 1e3f)}, 5e-7);
        expect_sums(q, {width * static_cast<float>(bin)}, 5e-7);
    }
}

TEST(Moments, KnowDistancesNearNone) {
    for (const float r : {1e-6f, 1e-5f, 1e-3f, 0.1f, 1.0f})
        expect_sums(even_q(51, 0.0, 0.015), std::vector<float>(100, r), 1e-6);
}

// Waves that would fill memory are not made, and nothing pays then.
TEST(Moments, AreNotTakenForVastSystems) {
    const std::vector<double> q = even_q(51, 0.0, 0.015);
    const SineGrid grid(q);
    MomentTable table(grid);
    EXPECT_EQ(table.bins(100.0), 0);
    table.extend_to(1e8);
    EXPECT_EQ(table.bins(1e8), 0);
    EXPECT_FALSE(table.is_faster(1e12, 1e8, 1));
    table.extend_to(100.0);
    EXPECT_GT(table.bins(100.0), 30);
    EXPECT_TRUE(table.is_faster(5000.0, 100.0, 1));
    EXPECT_FALSE(table.is_faster(10.0, 100.0, 1));
}

}  // namespace
}  // namespace pleat::saxs
