// Quantile: beside sorted distances, of any size and unit, with ties, from any bands and threads.
#include "pleat/cluster/methods/methods.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pleat/cluster/tests/random_pairs.h"

namespace pleat::cluster {
namespace {

using test::OddBands;
using test::random_pairs;
using test::threads;

StoredPairs scaled(const StoredPairs& from, double factor) {
    std::vector<float> pairs;
    for (const float pair : from.condensed()) pairs.push_back(static_cast<float>(pair * factor));
    return {from.count(), std::move(pairs)};
}

float found_in(const PairSource& distances, double share, int many) {
    QuantileFinder finder(distances.count(), many);
    for (const Tile& tile : cut_into_bands(distances.count(), distances.band_rows())) {
        std::vector<float> band(static_cast<std::size_t>(tile.items));
        distances.band(tile.side[0], band.data());
        finder.add(tile.side[0], band.data());
    }
    return finder.find(distances, share, threads(many));
}

TEST(Quantile, IsTheDistanceAtItsPositionAmongAll) {
    for (const Index count : {2, 3, 64, 150}) {
        for (const int levels : {0, 1, 7}) {
            for (const double factor : {0.0, 1e-38, 1e-3, 1.0, 1e9}) {
                const StoredPairs distances = scaled(random_pairs(count, levels, 3), factor);
                std::vector<float> sorted = distances.condensed();
                std::sort(sorted.begin(), sorted.end());
                for (const double share : {0.0, 0.02, 0.5, 0.9999, 1.0}) {
                    const auto position = static_cast<std::size_t>(
                        std::max(std::ceil(share * static_cast<double>(sorted.size())), 1.0) - 1);
                    for (const int many : {1, 3})
                        EXPECT_EQ(found_in(OddBands(distances, 19), share, many), sorted[position])
                            << count << ' ' << levels << ' ' << factor << ' ' << share;
                }
            }
        }
    }
}

TEST(Quantile, OfNoPairIs0) {
    EXPECT_EQ(found_in(StoredPairs(1, std::vector<float>()), 0.02, 1), 0.0f);
}

}  // namespace
}  // namespace pleat::cluster
