// Trees: each merge is of the two clusters nearest by definition; cuts and Newick texts.
#include "pleat/cluster/methods/methods.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "pleat/cluster/tests/random_pairs.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat::cluster {
namespace {

using test::grouped_pairs;
using test::random_pairs;
using test::threads;

constexpr Method kMethods[] = {Method::single, Method::complete, Method::average, Method::ward};

/// Distances between the clusters there are, by the definition of the linkage over their items;
/// Ward's by squares of float64.
class Clusters {
public:
    Clusters(Method method, const StoredPairs& distances) : method_(method), distances_(distances) {
        for (Index i = 0; i < distances.count(); ++i) {
            items_[i] = {i};
            for (Index j = 0; j < i; ++j)
                squares_[{j, i}] = std::pow(double{distances.at(i, j)}, 2);
        }
    }
    double between(Index a, Index b) const {
        if (method_ == Method::ward) return std::sqrt(squares_.at(std::minmax(a, b)));
        double min = 1e30, max = 0, sum = 0;
        for (const Index i : items_.at(a))
            for (const Index j : items_.at(b)) {
                const double distance = distances_.at(i, j);
                min = std::min(min, distance);
                max = std::max(max, distance);
                sum += distance;
            }
        if (method_ == Method::single) return min;
        if (method_ == Method::complete) return max;
        return sum / static_cast<double>(items_.at(a).size() * items_.at(b).size());
    }
    double min() const {
        double min = 1e30;
        for (const auto& [a, items] : items_)
            for (const auto& [b, others] : items_)
                if (a < b) min = std::min(min, between(a, b));
        return min;
    }
    void merge(Index a, Index b, Index into) {
        const double na = size(a), nb = size(b), ab = squares_.at(std::minmax(a, b));
        for (const auto& [c, items] : items_) {
            if (c == a || c == b) continue;
            const double n = size(c), ac = squares_.at(std::minmax(a, c)),
                         bc = squares_.at(std::minmax(b, c));
            squares_[{c, into}] = ((na + n) * ac + (nb + n) * bc - n * ab) / (na + nb + n);
        }
        std::vector<Index> all = items_.at(a);
        all.insert(all.end(), items_.at(b).begin(), items_.at(b).end());
        items_.erase(a);
        items_.erase(b);
        items_[into] = std::move(all);
    }
    double size(Index a) const { return static_cast<double>(items_.at(a).size()); }

private:
    Method method_;
    const StoredPairs& distances_;
    std::map<Index, std::vector<Index>> items_;
    std::map<std::pair<Index, Index>, double> squares_;
};

TEST(Linkage, EachMergeIsOfTheNearestClusters) {
    for (const Index count : {1, 2, 3, 24, 48})
        for (const int levels : {0, 3, 30})
            for (const Method method : kMethods) {
                SCOPED_TRACE(testing::Message()
                             << count << ' ' << levels << ' ' << static_cast<int>(method));
                const StoredPairs distances = random_pairs(count, levels, 31);
                const std::vector<Merge> tree =
                    link(method, count, distances.condensed(), threads(1));
                ASSERT_EQ(static_cast<Index>(tree.size()), count - 1);
                Clusters clusters(method, distances);
                for (Index n = 0; n + 1 < count; ++n) {
                    const Merge& merge = tree[n];
                    ASSERT_LT(merge.first, merge.second);
                    EXPECT_NEAR(merge.height, clusters.between(merge.first, merge.second), 2e-5);
                    EXPECT_NEAR(merge.height, clusters.min(), 2e-5);
                    clusters.merge(merge.first, merge.second, count + n);
                    EXPECT_EQ(merge.size, clusters.size(count + n));
                }
            }
}

TEST(Linkage, CutsGiveAsManyClustersOrMergeBelowAHeight) {
    const StoredPairs distances = grouped_pairs(90, 5, 4);
    for (const Method method : kMethods) {
        const std::vector<Merge> tree = link(method, 90, distances.condensed(), threads(1));
        for (const Index k : {1, 5, 90}) {
            const Clustering cut = cut_into_clusters(tree, 90, k);
            EXPECT_EQ(cut.cluster_count(), k);
            const double above = k == 1 ? 1e30 : tree[90 - k].height;
            EXPECT_EQ(cut_below_height(tree, 90, above).assignment, cut.assignment)
                << "a height is not below itself";
        }
    }
    // Whatever the digits of the cutoff, a merge at it is not below it.
    for (const Method method : kMethods) {
        const std::vector<Merge> tree = link(method, 2, {0.7f}, threads(1));
        EXPECT_EQ(cut_below_height(tree, 2, 0.7).cluster_count(), 2);
        EXPECT_EQ(cut_below_height(tree, 2, double{0.7f}).cluster_count(), 2);
        EXPECT_EQ(cut_below_height(tree, 2, double{std::nextafter(0.7f, 1.0f)}).cluster_count(), 1);
    }
    // Single linkage: what steps below the cutoff connect.
    const Clustering cut =
        cut_below_height(link(Method::single, 90, distances.condensed(), threads(1)), 90, 2.0);
    for (Index i = 0; i < 90; ++i)
        for (Index j = 0; j < i; ++j)
            if (distances.at(i, j) < 2.0f) {
                EXPECT_EQ(cut.assignment[i], cut.assignment[j]);
            }
}

std::string newick(const std::vector<Merge>& tree, Index count) {
    const pleat::test::TemporaryFolder folder;
    write_newick(folder / "tree.nwk", tree, count);
    std::ifstream file(folder / "tree.nwk");
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Linkage, NewickHasHalfTheHeightOnEachSide) {
    const std::vector<Merge> tree = link(Method::average, 3, {1, 3, 4}, threads(1));
    EXPECT_EQ(newick(tree, 3), "(2:1.75,(0:0.5,1:0.5):1.25);\n");
    EXPECT_EQ(newick({}, 1), "0;\n");
    // Deeper than any call stack.
    constexpr Index kDeep = 200'000;
    std::vector<Merge> chain = {{0, 1, 1.0, 2}};
    for (Index n = 2; n < kDeep; ++n)
        chain.push_back({static_cast<std::int32_t>(n), static_cast<std::int32_t>(kDeep + n - 2),
                         static_cast<double>(n), static_cast<std::int32_t>(n + 1)});
    const std::string text = newick(chain, kDeep);
    EXPECT_EQ(std::count(text.begin(), text.end(), '('), kDeep - 1);
    EXPECT_EQ(std::count(text.begin(), text.end(), ')'), kDeep - 1);
}

}  // namespace
}  // namespace pleat::cluster
