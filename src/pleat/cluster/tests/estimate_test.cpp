// Tests of estimates before a clustering: which arrays are counted, and how time grows.
#include "pleat/cluster/estimate.h"

#include <gtest/gtest.h>

namespace pleat::cluster {
namespace {

Parameters by(Method method) {
    Parameters parameters;
    parameters.method = method;
    if (method == Method::average || method == Method::kmedoids)
        parameters.k = 5;
    else
        parameters.cutoff = 2;
    return parameters;
}

Estimate of(Index items, Method method, const DistanceCost& distances = {.pair_seconds = 1e-8}) {
    return estimate(items, distances, by(method), {});
}

TEST(ClusterEstimate, CountsKeptPairsBitsAndTrees) {
    const Index few = 5000, many = 20000;
    const std::int64_t pairs = 4 * few * (few - 1) / 2;
    EXPECT_TRUE(keeps_pairs(few, false));
    EXPECT_FALSE(keeps_pairs(few, true));
    EXPECT_FALSE(keeps_pairs(many, false));
    EXPECT_GE(of(few, Method::average).host_bytes, 2 * pairs);
    EXPECT_LT(of(few, Method::average, {.is_stored = true}).host_bytes, 2 * pairs);
    EXPECT_GE(of(many, Method::gromos).host_bytes, many * many / 8);
    // The GPU has the bits.
    EXPECT_LT(of(many, Method::gromos, {.reduces = true}).host_bytes, many * many / 8);
    EXPECT_LT(of(many, Method::kmedoids).host_bytes, many * many / 8);
}

TEST(ClusterEstimate, TimeGrowsWithPairsPassesAndTrials) {
    const double once = of(20000, Method::gromos).seconds;
    EXPECT_NEAR(of(40000, Method::gromos).seconds / once, 4, 0.2);
    EXPECT_GT(of(20000, Method::kmedoids).seconds, 3 * once);
    EXPECT_LT(of(20000, Method::gromos, {.is_stored = true}).seconds, once);
    Parameters sweep = by(Method::gromos);
    sweep.cutoff = CutoffRange(1, 3, 0.5);
    EXPECT_GT(estimate(20000, {.pair_seconds = 1e-8}, sweep, {}).seconds, 3 * once);
    // A million frames of 100 atoms take 32 s on an H200 (bench/cluster.md).
    EXPECT_LT(of(1000000, Method::gromos, {.reduces = true, .pair_seconds = 7e-11}).seconds, 96);
    // k-centres: items times centres; a cutoff does not say how many.
    Parameters centres = by(Method::kcenters);
    EXPECT_EQ(estimate(20000, {.pair_seconds = 1e-8}, centres, {}).seconds, 0);
    centres.cutoff = {};
    centres.k = 100;
    EXPECT_NEAR(estimate(20000, {.pair_seconds = 1e-8}, centres, {}).seconds, 0.05 + 0.02, 1e-6);
    centres.medoid_sweeps = 4;
    EXPECT_NEAR(estimate(20000, {.pair_seconds = 1e-8}, centres, {}).seconds, 0.05 + 0.1, 1e-6);
    Context reference;
    reference.device = {Device::Kind::reference, 0};
    EXPECT_EQ(estimate(20000, {}, by(Method::gromos), reference).seconds, 0);
}

}  // namespace
}  // namespace pleat::cluster
