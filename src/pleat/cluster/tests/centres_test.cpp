// k-centres beside its definition, done the slow way: ties, cutoffs, sweeps of medoids, pruning.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "pleat/cluster/tests/cases.h"
#include "pleat/core/error.h"

namespace pleat::cluster {
namespace {

using test::grouped_pairs;
using test::random_pairs;
using test::threads;
using test::with;

/// `k` centres, or as many as the cutoff needs if `k` is 0.
Clustering slow_centres(const StoredPairs& distances, Index k, float cutoff) {
    const Index count = distances.count();
    Clustering found;
    found.assignment.resize(static_cast<std::size_t>(count));
    std::vector<float> nearest(found.assignment.size(), INFINITY);
    while (true) {
        Index next = -1;
        for (Index i = 0; i < count; ++i)
            if (std::ranges::count(found.centres, i) == 0 &&
                (next < 0 || nearest[i] > nearest[next]))
                next = i;
        const auto many = std::ssize(found.centres);
        if (next < 0 || (k > 0 && many == k) || (k == 0 && many > 0 && nearest[next] < cutoff))
            break;
        found.centres.push_back(next);
        for (Index i = 0; i < count; ++i)
            if (i == next ||
                (std::ranges::count(found.centres, i) == 0 && distances.at(i, next) < nearest[i])) {
                nearest[i] = distances.at(i, next);
                found.assignment[i] = static_cast<std::int32_t>(many);
            }
    }
    number_by_size(found);
    return found;
}

void expect_slow_centres(const StoredPairs& distances, Index k, double cutoff) {
    SCOPED_TRACE(testing::Message() << distances.count() << " items, " << k << ", " << cutoff);
    const Parameters parameters = k > 0 ? with(Method::kcenters, {}, static_cast<double>(k))
                                        : with(Method::kcenters, cutoff, {});
    const Clustering expected = slow_centres(distances, k, static_cast<float>(cutoff));
    const Result found = run(distances, parameters, threads(2));
    EXPECT_EQ(found.clustering.assignment, expected.assignment);
    EXPECT_EQ(found.clustering.centres, expected.centres);
    ASSERT_EQ(found.clusters.size(), expected.centres.size());
    const std::vector<std::vector<Index>> members = expected.members();
    double sum = 0, radius = 0;
    for (std::size_t c = 0; c < found.clusters.size(); ++c) {
        const ClusterDescription& one = found.clusters[c];
        double own = 0, farthest = 0;
        for (const Index item : members[c]) {
            own += distances.at(item, expected.centres[c]);
            farthest = std::max<double>(farthest, distances.at(item, expected.centres[c]));
        }
        EXPECT_EQ(one.medoid, expected.centres[c]);
        EXPECT_NEAR(one.mean * static_cast<double>(std::max<Index>(one.size - 1, 1)), own, 1e-6);
        EXPECT_EQ(one.radius, farthest);
        sum += own;
        radius = std::max(radius, farthest);
    }
    EXPECT_EQ(found.statistics.pairs(), distances.count() - std::ssize(expected.centres));
    EXPECT_NEAR(found.statistics.sum(), sum, 1e-4);
    EXPECT_EQ(found.statistics.max(), radius);
}

TEST(Centres, AreTheDefinition) {
    for (const Index count : {1, 2, 5, 64})
        for (const int levels : {2, 12, 0}) {
            const StoredPairs distances = random_pairs(count, levels, 7);
            for (const Index k : {Index{1}, count / 2 + 1, count})
                if (k <= count) expect_slow_centres(distances, k, 0);
            for (const double cutoff : {1e-30, 1.0, 3.0, 100.0})
                expect_slow_centres(distances, 0, cutoff);
        }
    expect_slow_centres(grouped_pairs(300, 7, 3), 7, 0);
}

TEST(Centres, OfIdenticalItemsAreTheFirstOnes) {
    const StoredPairs same(5, std::vector<float>(10, 0.0F));
    const Result three = run(same, with(Method::kcenters, {}, 3), threads(1));
    EXPECT_EQ(three.clustering.centres, (std::vector<Index>{0, 1, 2}));
    EXPECT_EQ(three.clustering.assignment, (std::vector<std::int32_t>{0, 1, 2, 0, 0}));
    EXPECT_EQ(run(same, with(Method::kcenters, 1e-30, {}), threads(1)).clusters.size(), 1U);
    Parameters sweeps = with(Method::kcenters, {}, 5);
    sweeps.medoid_sweeps = 2;
    EXPECT_EQ(run(same, sweeps, threads(1)).clusters.size(), 5U);
}

TEST(Centres, SweepsLowerTheCostAndKeepItemsAtTheirNearest) {
    const StoredPairs distances = grouped_pairs(300, 4, 12);
    Parameters parameters = with(Method::kcenters, {}, 4);
    const double before = run(distances, parameters, threads(1)).statistics.sum();
    parameters.medoid_sweeps = 6;
    const Result found = run(distances, parameters, threads(1));
    EXPECT_LT(found.statistics.sum(), before);
    for (Index i = 0; i < distances.count(); ++i)
        for (const Index centre : found.clustering.centres)
            EXPECT_LE(distances.at(i, found.clustering.centres[found.clustering.assignment[i]]),
                      distances.at(i, centre));
    Context other = threads(1);
    other.seed = 2;
    EXPECT_NE(run(distances, parameters, other).clustering.centres, found.clustering.centres);
}

/// Points of a plane; counts the distances that are computed.
class Points final : public PairSource {
public:
    Points(Index count, bool is_metric) : is_metric_(is_metric) {
        std::mt19937 source(4);
        for (Index i = 0; i < 2 * count; ++i)
            xy_.push_back(static_cast<float>(i / 2 % 9 * (i % 2 + 1)) +
                          static_cast<float>(source() % 1000) / 1000);
    }
    Index count() const override { return std::ssize(xy_) / 2; }
    void band(Block, float*) const override { ADD_FAILURE() << "all pairs were asked for"; }
    void rows(std::span<const Index>, float*) const override { ADD_FAILURE() << "not needed"; }
    void among(std::span<const Index>, const BandVisitor&) const override {
        ADD_FAILURE() << "pairs within clusters were asked for";
    }
    void between(std::span<const Index> items, std::span<const Index> others,
                 float* values) const override {
        EXPECT_TRUE(std::ranges::is_sorted(others));
        computed += std::ssize(items) * std::ssize(others);
        for (const Index i : items)
            for (const Index j : others)
                *values++ = std::hypot(xy_[2 * i] - xy_[2 * j], xy_[2 * i + 1] - xy_[2 * j + 1]);
    }
    bool is_metric() const override { return is_metric_; }
    std::string hash() const override { return "points"; }
    double error(double cutoff) const override { return 1e-6 * (1 + cutoff); }
    bool is_below(Index, Index, double) const override { return false; }

    mutable Index computed = 0;

private:
    bool is_metric_;
    std::vector<float> xy_;
};

TEST(Centres, PruningByTheTriangleInequalityChangesNothing) {
    for (const std::int64_t sweeps : {0, 3}) {
        Parameters parameters = with(Method::kcenters, {}, 30);
        parameters.medoid_sweeps = sweeps;
        const Points all(3000, false), pruned(3000, true);
        const Result expected = run(all, parameters, threads(1));
        test::expect_same(run(pruned, parameters, threads(1)), expected);
        EXPECT_LT(pruned.computed, all.computed / 2);
    }
}

TEST(Centres, NeedACutoffOrANumber) {
    EXPECT_THROW(check_options(with(Method::kcenters, {}, {})), UsageError);
    EXPECT_THROW(check_options(with(Method::kcenters, 2, 3)), UsageError);
    EXPECT_THROW(run(random_pairs(5, 0, 1), with(Method::kcenters, {}, 6), threads(1)), UsageError);
    Parameters other = with(Method::gromos, 2, {});
    other.medoid_sweeps = 1;
    EXPECT_THROW(check_options(other), UsageError);
}

}  // namespace
}  // namespace pleat::cluster
