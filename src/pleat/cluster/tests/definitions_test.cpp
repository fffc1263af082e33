// Each method beside its definition, done the slow way, on distances full of ties.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "pleat/cluster/describe.h"
#include "pleat/cluster/methods/methods.h"
#include "pleat/cluster/tests/random_pairs.h"

namespace pleat::cluster {
namespace {

using test::grouped_pairs;
using test::OddBands;
using test::random_pairs;
using test::threads;

constexpr std::int64_t kAll = std::int64_t{1} << 40;

/// Calls `check(distances, cutoff)` with matrices of many sizes, densities and ties.
void with_matrices(const std::function<void(const StoredPairs&, double)>& check) {
    for (const Index count : {1, 2, 5, 64, 130})
        for (const int levels : {2, 12, 40})
            for (const double cutoff : {1.5, 3.0, 100.0}) {
                SCOPED_TRACE(testing::Message() << count << ' ' << levels << ' ' << cutoff);
                check(random_pairs(count, levels, static_cast<std::uint64_t>(count + levels)),
                      cutoff);
            }
    check(grouped_pairs(300, 7, 3), 2.0);
}

/// With rows kept and computed, on one and several threads.
void with_neighbours(const StoredPairs& distances, double cutoff,
                     const std::function<void(const ItemNeighbours&, const Context&)>& check) {
    for (const std::int64_t bytes : {kAll, std::int64_t{0}})
        for (const int many : {1, 3})
            check(*find_neighbours(distances, cutoff, threads(many), bytes), threads(many));
}

bool near(const StoredPairs& distances, Index i, Index j, double cutoff) {
    return i == j || distances.at(i, j) < static_cast<float>(cutoff);
}

Clustering slow_gromos(const StoredPairs& distances, double cutoff) {
    const Index count = distances.count();
    Clustering result;
    result.assignment.assign(static_cast<std::size_t>(count), kNoise);
    for (std::int32_t id = 0;; ++id) {
        Index best = -1, max = 0;
        for (Index i = 0; i < count; ++i) {
            if (result.assignment[i] != kNoise) continue;
            Index neighbours = 0;
            for (Index j = 0; j < count; ++j)
                neighbours += result.assignment[j] == kNoise && near(distances, i, j, cutoff);
            if (neighbours > max) {
                max = neighbours;
                best = i;
            }
        }
        if (best < 0) return result;
        result.centres.push_back(best);
        std::vector<Index> members;
        for (Index j = 0; j < count; ++j)
            if (result.assignment[j] == kNoise && near(distances, best, j, cutoff))
                members.push_back(j);
        for (const Index j : members) result.assignment[j] = id;
    }
}

/// By lists that shrink, sorted anew after each cluster.
std::vector<std::int32_t> slow_gmx(const StoredPairs& distances, double cutoff) {
    struct List {
        int size;
        std::vector<Index> items;
    };
    const Index count = distances.count();
    std::vector<List> lists(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) {
        for (Index j = 0; j < count; ++j)
            if (near(distances, i, j, cutoff)) lists[i].items.push_back(j);
        lists[i].size = static_cast<int>(lists[i].items.size());
    }
    const auto longer = [](const List& a, const List& b) { return b.size < a.size; };
    std::vector<std::int32_t> assignment(static_cast<std::size_t>(count), kNoise);
    std::sort(lists.begin(), lists.end(), longer);
    for (std::int32_t id = 0; lists[0].size > 0; ++id) {
        for (const Index j : lists[0].items) assignment[j] = id;
        lists[0].items.clear();
        lists[0].size = 0;
        auto end = lists.begin() + 1;
        for (; end != lists.end() && end->size > 0; ++end) {
            std::erase_if(end->items, [&](Index j) { return assignment[j] != kNoise; });
            end->size = static_cast<int>(end->items.size());
        }
        std::sort(lists.begin(), end, longer);
    }
    return assignment;
}

TEST(Daura, IsTheDefinition) {
    with_matrices([](const StoredPairs& distances, double cutoff) {
        const Clustering expected = slow_gromos(distances, cutoff);
        with_neighbours(distances, cutoff,
                        [&](const ItemNeighbours& neighbours, const Context& context) {
                            const Clustering found = gromos(neighbours, context);
                            EXPECT_EQ(found.assignment, expected.assignment);
                            EXPECT_EQ(found.centres, expected.centres);
                        });
    });
}

TEST(Gromacs, IsTheProgramsProcedure) {
    bool differs = false;
    with_matrices([&](const StoredPairs& distances, double cutoff) {
        const std::vector<std::int32_t> expected = slow_gmx(distances, cutoff);
        with_neighbours(distances, cutoff,
                        [&](const ItemNeighbours& neighbours, const Context& context) {
                            EXPECT_EQ(gmx(neighbours, context).assignment, expected);
                        });
        differs = differs || expected != slow_gromos(distances, cutoff).assignment;
    });
    EXPECT_TRUE(differs) << "no matrix told the two procedures apart";
}

TEST(Greedy, SizesFallFromClusterToCluster) {
    with_matrices([](const StoredPairs& distances, double cutoff) {
        with_neighbours(distances, cutoff,
                        [](const ItemNeighbours& neighbours, const Context& context) {
                            for (const auto& method : {gromos, gmx}) {
                                const auto members = method(neighbours, context).members();
                                for (std::size_t c = 1; c < members.size(); ++c)
                                    EXPECT_GE(members[c - 1].size(), members[c].size());
                            }
                        });
    });
}

Clustering slow_dbscan(const StoredPairs& distances, double cutoff, int fewest) {
    const Index count = distances.count();
    std::vector<bool> core(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) {
        int degree = 0;
        for (Index j = 0; j < count; ++j) degree += near(distances, i, j, cutoff);
        core[i] = degree >= fewest;
    }
    // The lowest core that a core reaches, by spreading until nothing changes.
    std::vector<std::int32_t> lowest(static_cast<std::size_t>(count));
    std::iota(lowest.begin(), lowest.end(), 0);
    for (bool changed = true; changed;) {
        changed = false;
        for (Index i = 0; i < count; ++i)
            for (Index j = 0; j < count; ++j)
                if (core[i] && core[j] && near(distances, i, j, cutoff) && lowest[j] < lowest[i]) {
                    lowest[i] = lowest[j];
                    changed = true;
                }
    }
    Clustering result;
    std::set<std::int32_t> found;
    for (Index i = 0; i < count; ++i) {
        std::int32_t cluster = kNoise;
        for (Index j = 0; j < count; ++j)
            if (core[j] && near(distances, i, j, cutoff) && (core[i] ? j == i : true))
                cluster = cluster == kNoise ? lowest[j] : std::min(cluster, lowest[j]);
        result.assignment.push_back(cluster);
        if (cluster != kNoise) found.insert(cluster);
    }
    for (std::int32_t& cluster : result.assignment)
        if (cluster != kNoise)
            cluster = static_cast<std::int32_t>(std::distance(found.begin(), found.find(cluster)));
    number_by_size(result);
    return result;
}

TEST(Dbscan, IsTheDefinition) {
    bool has_noise = false;
    with_matrices([&](const StoredPairs& distances, double cutoff) {
        for (const int fewest : {1, 3, 20}) {
            const Clustering expected = slow_dbscan(distances, cutoff, fewest);
            has_noise = has_noise || std::count(expected.assignment.begin(),
                                                expected.assignment.end(), kNoise) > 0;
            with_neighbours(
                distances, cutoff, [&](const ItemNeighbours& neighbours, const Context& context) {
                    EXPECT_EQ(dbscan(neighbours, fewest, context).assignment, expected.assignment)
                        << fewest;
                });
        }
    });
    EXPECT_TRUE(has_noise);
}

TEST(DensityPeaks, AreTheNearestDenserItems) {
    with_matrices([](const StoredPairs& distances, double cutoff) {
        const Index count = distances.count();
        const auto neighbours = find_neighbours(distances, cutoff, threads(2), kAll);
        const std::vector<Peak> peaks =
            find_peaks(OddBands(distances, 11), neighbours->degrees(), threads(1));
        const auto nearest_denser = [&](Index a, Index b) {
            return peaks[a].density > peaks[b].density ||
                   (peaks[a].density == peaks[b].density && a < b);
        };
        for (Index i = 0; i < count; ++i) {
            Index expected = -1;
            float farthest = 0;
            for (Index j = 0; j < count; ++j) {
                farthest = std::max(farthest, distances.at(i, j));
                if (nearest_denser(j, i) &&
                    (expected < 0 || distances.at(i, j) < distances.at(i, expected)))
                    expected = j;
            }
            EXPECT_EQ(peaks[i].nearest_denser, expected);
            EXPECT_EQ(peaks[i].separation, expected < 0 ? farthest : distances.at(i, expected));
            EXPECT_EQ(peaks[i].density, neighbours->degrees()[i] - 1);
        }
        for (const Index k : {Index{1}, std::min<Index>(4, count), count}) {
            const Clustering found = density_peaks(peaks, k);
            EXPECT_EQ(found.cluster_count(), k);
            for (Index i = 0; i < count; ++i) {
                const Index centre = found.centres[found.assignment[i]];
                EXPECT_TRUE(i == centre ||
                            std::count(found.centres.begin(), found.centres.end(), i) == 0);
                if (i != centre) {
                    EXPECT_EQ(found.assignment[i], found.assignment[peaks[i].nearest_denser]);
                }
            }
        }
    });
}

double cost_of(const StoredPairs& distances, const std::vector<Index>& medoids) {
    double cost = 0;
    for (Index i = 0; i < distances.count(); ++i) {
        float min = std::numeric_limits<float>::infinity();
        for (const Index medoid : medoids) min = std::min(min, distances.at(i, medoid));
        cost += min;
    }
    return cost;
}

TEST(KMedoids, NoSwapOfOneMedoidMakesItBetter) {
    for (const Index count : {1, 7, 65}) {
        for (const int levels : {3, 0}) {
            const StoredPairs distances = random_pairs(count, levels, 9);
            for (const Index k : {Index{1}, Index{2}, Index{6}, count}) {
                if (k > count) continue;
                const Medoids found = k_medoids(distances, k, threads(1));
                std::vector<Index> medoids = found.clustering.centres;
                ASSERT_EQ(static_cast<Index>(medoids.size()), k);
                ASSERT_EQ(std::set<Index>(medoids.begin(), medoids.end()).size(), medoids.size());
                EXPECT_NEAR(found.cost, cost_of(distances, medoids), 1e-6 * found.cost);
                for (std::size_t n = 0; n < medoids.size(); ++n) {
                    const Index kept = medoids[n];
                    for (Index i = 0; i < count; ++i) {
                        medoids[n] = i;
                        EXPECT_GE(cost_of(distances, medoids), found.cost * (1 - 1e-6));
                    }
                    medoids[n] = kept;
                }
                for (Index i = 0; i < count; ++i) {
                    const Index own = medoids[found.clustering.assignment[i]];
                    for (const Index medoid : medoids)
                        EXPECT_LE(distances.at(i, own), distances.at(i, medoid));
                }
            }
        }
    }
}

TEST(KMedoids, FindsGroupsFromAnySeed) {
    const StoredPairs distances = grouped_pairs(300, 4, 12);
    Context context = threads(1);
    const Medoids first = k_medoids(distances, 4, context);
    int other_starts = 0;
    for (context.seed = 2; context.seed < 6; ++context.seed) {
        const Medoids found = k_medoids(distances, 4, context);
        EXPECT_EQ(found.clustering.assignment, first.clustering.assignment);
        other_starts += found.swaps != first.swaps;
    }
    EXPECT_GT(other_starts, 0) << "the seed changes nothing";
}

TEST(Describe, MedoidsSpreadAndSilhouettesAreTheirDefinitions) {
    with_matrices([](const StoredPairs& distances, double) {
        const Index count = distances.count();
        Clustering clustering;
        for (Index i = 0; i < count; ++i)
            clustering.assignment.push_back(i % 7 == 6 ? kNoise
                                                       : static_cast<std::int32_t>(i % 7 % 4));
        number_by_size(clustering);
        const std::vector<ClusterDescription> found = describe(distances, clustering, threads(1));
        const auto members = clustering.members();
        ASSERT_EQ(found.size(), members.size());
        const auto mean_to = [&](Index i, const std::vector<Index>& others) {
            double sum = 0, many = 0;
            for (const Index j : others)
                if (i != j) sum += distances.at(i, j), ++many;
            return many > 0 ? sum / many : 0.0;
        };
        for (std::size_t c = 0; c < members.size(); ++c) {
            double min = mean_to(found[c].medoid, members[c]), radius = 0;
            EXPECT_NEAR(found[c].mean, min, 1e-6);
            for (const Index i : members[c]) {
                radius = std::max<double>(radius, distances.at(found[c].medoid, i));
                const double mean = mean_to(i, members[c]);
                EXPECT_TRUE(mean > min - 1e-9 && (i >= found[c].medoid || mean > min)) << i;
            }
            EXPECT_EQ(found[c].radius, radius);
            EXPECT_EQ(found[c].size, static_cast<Index>(members[c].size()));
        }
        const std::vector<double> one = silhouettes(distances, clustering, threads(1));
        for (Index i = 0; i < count; ++i) {
            const std::int32_t own = clustering.assignment[i];
            if (own == kNoise || members.size() < 2) {
                EXPECT_TRUE(std::isnan(one[i]));
                continue;
            }
            double without = std::numeric_limits<double>::infinity();
            for (std::size_t c = 0; c < members.size(); ++c)
                if (static_cast<std::int32_t>(c) != own)
                    without = std::min(without, mean_to(i, members[c]));
            const double within = mean_to(i, members[own]);
            const double expected =
                members[own].size() < 2 ? 0.0 : (without - within) / std::max(within, without);
            EXPECT_NEAR(one[i], expected, 1e-9);
        }
        const std::vector<double> three = silhouettes(distances, clustering, threads(3));
        for (Index i = 0; i < count; ++i) EXPECT_TRUE(one[i] == three[i] || std::isnan(one[i]));
    });
}

}  // namespace
}  // namespace pleat::cluster
