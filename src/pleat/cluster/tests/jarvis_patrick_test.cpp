// Jarvis-Patrick beside its definition, done the slow way, on distances full of ties.
#include "pleat/cluster/methods/methods.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "pleat/cluster/tests/cases.h"
#include "pleat/cluster/tests/random_pairs.h"
#include "pleat/core/error.h"

namespace pleat::cluster {
namespace {

using test::grouped_pairs;
using test::OddBands;
using test::random_pairs;
using test::threads;

/// The lists of gmx cluster: other items by distance, then by number; `nearest` 0: all.
std::vector<std::vector<Index>> slow_lists(const StoredPairs& distances, Index nearest,
                                           std::optional<double> cutoff) {
    const Index count = distances.count();
    std::vector<std::vector<Index>> lists(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) {
        std::vector<Index> order(static_cast<std::size_t>(count));
        std::iota(order.begin(), order.end(), Index{0});
        std::erase(order, i);
        std::stable_sort(order.begin(), order.end(),
                         [&](Index a, Index b) { return distances.at(i, a) < distances.at(i, b); });
        for (const Index j : order) {
            if (nearest > 0 && static_cast<Index>(lists[i].size()) == nearest) break;
            if (cutoff && !(distances.at(i, j) < static_cast<float>(*cutoff))) break;
            lists[i].push_back(j);
        }
    }
    return lists;
}

std::vector<std::int32_t> slow_clusters(const std::vector<std::vector<Index>>& lists, int common) {
    const auto has = [&](Index i, Index j) {
        return std::count(lists[i].begin(), lists[i].end(), j) > 0;
    };
    Clustering result;
    result.assignment.resize(lists.size());
    std::iota(result.assignment.begin(), result.assignment.end(), 0);
    const auto count = static_cast<Index>(lists.size());
    for (bool changed = true; changed;) {
        changed = false;
        for (Index i = 0; i < count; ++i)
            for (Index j = i + 1; j < count; ++j) {
                if (result.assignment[i] == result.assignment[j] || !has(i, j) || !has(j, i))
                    continue;
                const auto shared = std::count_if(lists[i].begin(), lists[i].end(),
                                                  [&](Index k) { return has(j, k); });
                if (shared < common) continue;
                result.assignment[i] = result.assignment[j] =
                    std::min(result.assignment[i], result.assignment[j]);
                changed = true;
            }
    }
    std::vector<std::int32_t> used = result.assignment;
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (std::int32_t& cluster : result.assignment)
        cluster = static_cast<std::int32_t>(std::lower_bound(used.begin(), used.end(), cluster) -
                                            used.begin());
    number_by_size(result);
    return result.assignment;
}

TEST(JarvisPatrick, IsTheDefinition) {
    std::vector<StoredPairs> matrices;
    for (const Index count : {1, 2, 5, 64})
        for (const int levels : {2, 12, 0}) matrices.push_back(random_pairs(count, levels, 7));
    matrices.push_back(grouped_pairs(80, 5, 3));
    bool joins = false, splits = false;
    for (const StoredPairs& distances : matrices)
        for (const Index nearest : {0, 1, 6, 1000})
            for (const int common : {0, 2})
                for (const std::optional<double> cutoff :
                     {std::optional<double>(), std::optional(2.5)}) {
                    if ((nearest == 0 && !cutoff) || (nearest == 1 && common > 0)) continue;
                    Parameters parameters;
                    parameters.method = Method::jarvis_patrick;
                    parameters.nearest = nearest;
                    parameters.common = common;
                    if (cutoff) parameters.cutoff = *cutoff;
                    const auto expected =
                        slow_clusters(slow_lists(distances, nearest, cutoff), common);
                    const auto clusters = 1 + *std::max_element(expected.begin(), expected.end());
                    joins = joins || clusters < distances.count();
                    splits = splits || clusters > 1;
                    const OddBands computed(distances, 11);
                    for (const PairSource* source : {static_cast<const PairSource*>(&distances),
                                                     static_cast<const PairSource*>(&computed)})
                        for (const int many : {1, 3}) {
                            const Result found = run(*source, parameters, threads(many));
                            EXPECT_EQ(found.clustering.assignment, expected)
                                << distances.count() << " items, nearest " << nearest << ", common "
                                << common << ", cutoff " << cutoff.value_or(-1);
                            EXPECT_EQ(std::isnan(found.cutoff), !cutoff);
                        }
                }
    EXPECT_TRUE(joins && splits);
}

TEST(JarvisPatrick, PairsNearTheCutoffAreDecidedByTheirSource) {
    const StoredPairs distances = random_pairs(60, 6, 2);  // whole numbers, the cutoff among them
    Parameters parameters;
    parameters.method = Method::jarvis_patrick;
    parameters.common = 1;
    parameters.cutoff = 3.0;
    const OddBands off(distances, 7, 1e-3F);
    for (const std::int64_t nearest : {0, 1000}) {
        parameters.nearest = nearest;
        EXPECT_EQ(run(off, parameters, threads(1)).clustering.assignment,
                  slow_clusters(slow_lists(distances, nearest, 3.0), 1));
    }
}

TEST(JarvisPatrick, OptionsThatDoNotFitAreRefused) {
    const auto refused = [](const std::function<void(Parameters&)>& change) {
        Parameters parameters;
        parameters.method = Method::jarvis_patrick;
        change(parameters);
        EXPECT_THROW(check_options(parameters), UsageError);
    };
    refused([](Parameters& p) { p.nearest = 0; });
    refused([](Parameters& p) { p.nearest = -1; });
    refused([](Parameters& p) { p.nearest = p.common; });
    refused([](Parameters& p) { p.k = 3; });
    refused([](Parameters& p) { p.min_neighbours = 7; });
    refused([](Parameters& p) { p.method = Method::gromos, p.cutoff = 1, p.nearest = 3; });
    refused([](Parameters& p) { p.method = Method::dbscan, p.cutoff = 1, p.common = 1; });
}

}  // namespace
}  // namespace pleat::cluster
