// run(): what each method needs, sweeps, the histogram, and the same result on any threads.
#include "pleat/cluster/cluster.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pleat/cluster/citations.h"
#include "pleat/cluster/tests/random_distances.h"
#include "pleat/cluster/values.h"
#include "pleat/core/error.h"

namespace pleat::cluster {
namespace {

using test::grouped_distances;
using test::OddBands;
using test::random_distances;
using test::threads;

Parameters with(const std::string& method, const std::string& cutoff, const std::string& k) {
    Parameters parameters;
    parameters.method = method;
    parameters.cutoff = cutoff;
    parameters.k = k;
    return parameters;
}

const std::vector<Parameters>& every_method() {
    static const std::vector<Parameters> all = {with("daura", "3", ""),
                                                with("gromacs", "3", ""),
                                                with("single", "1.5", ""),
                                                with("complete", "8", ""),
                                                with("average", "", "4"),
                                                with("ward", "", "2:8:2"),
                                                with("kmedoids", "", "4"),
                                                with("kmedoids", "", "2:6"),
                                                with("dbscan", "1:3:0.5", ""),
                                                with("dbscan", "1.5", ""),
                                                with("density-peaks", "", "4"),
                                                with("density-peaks", "2", "2:5"),
                                                with("density-peaks", "1:3:1", "4"),
                                                with("daura", "1:5:1", "")};
    return all;
}

TEST(Run, GivesTheSameOnAnyThreadsAndFromAnyBands) {
    const StoredDistances distances = grouped_distances(250, 4, 8);
    for (const Parameters& parameters : every_method()) {
        SCOPED_TRACE(parameters.method + ' ' + parameters.cutoff + ' ' + parameters.k);
        const Result one = run(distances, parameters, threads(1));
        const Result three = run(OddBands(distances, 23), parameters, threads(3));
        EXPECT_EQ(one.clustering.assignment, three.clustering.assignment);
        EXPECT_EQ(one.pairs.histogram(), three.pairs.histogram());
        ASSERT_EQ(one.clusters.size(), three.clusters.size());
        for (std::size_t c = 0; c < one.clusters.size(); ++c) {
            EXPECT_EQ(one.clusters[c].medoid, three.clusters[c].medoid);
            EXPECT_EQ(one.clusters[c].mean, three.clusters[c].mean);
        }
        EXPECT_EQ(one.clustering.assignment.size(), 250u);
        EXPECT_FALSE(citations(parameters.method, true).empty());
    }
}

TEST(Run, OfOneItemOrTwo) {
    for (const Index count : {1, 2}) {
        const StoredDistances distances = random_distances(count, 0, 1);
        for (Parameters parameters : every_method()) {
            if (!parameters.k.empty()) parameters.k = "1";
            parameters.least_neighbours = 1;
            const Result result = run(distances, parameters, threads(1));
            EXPECT_EQ(result.clustering.assignment,
                      std::vector<std::int32_t>(static_cast<std::size_t>(count), 0))
                << parameters.method;
            EXPECT_EQ(result.pairs.pairs(), count - 1);
        }
    }
}

TEST(Run, FindsTheNumberOfGroupsInASweep) {
    const StoredDistances distances = grouped_distances(240, 6, 21);
    for (const char* method : {"average", "complete", "ward", "kmedoids", "density-peaks"}) {
        const Result result = run(distances, with(method, "", "2:12"), threads(2));
        EXPECT_EQ(result.clustering.cluster_count(), 6) << method;
        ASSERT_EQ(result.sweep.size(), 11u);
        double best = -1;
        for (const SweepPoint& point : result.sweep) best = std::max(best, point.silhouette);
        EXPECT_EQ(result.sweep[4].silhouette, best);
        EXPECT_EQ(result.silhouette, best);
        EXPECT_FALSE(std::isnan(result.clusters[0].silhouette));
    }
    const Result result = run(distances, with("daura", "1:9:1", ""), threads(2));
    EXPECT_EQ(result.clustering.cluster_count(), 6);
    EXPECT_EQ(result.sweep.size(), 9u);
}

TEST(Run, SumsUpAllPairs) {
    const StoredDistances distances = random_distances(120, 0, 5);
    Parameters parameters = with("daura", "0.2", "");
    parameters.bin = 0.125;
    const Result result = run(distances, parameters, threads(2));
    std::vector<std::int64_t> histogram(8, 0);
    double sum = 0;
    for (const float value : distances.condensed()) {
        ++histogram.at(static_cast<std::size_t>(value / 0.125));
        sum += value;
    }
    EXPECT_EQ(result.pairs.histogram(), histogram);
    EXPECT_NEAR(result.pairs.mean(), sum / 7140, 1e-9);
    EXPECT_EQ(result.pairs.quantile(1.0), 1.0);
    EXPECT_TRUE(std::isnan(result.silhouette));
}

TEST(Run, RefusesOptionsThatDoNotGoTogether) {
    const StoredDistances distances = random_distances(10, 4, 5);
    for (const auto& [parameters, part] : std::vector<std::pair<Parameters, std::string>>{
             {with("daura", "", ""), "--method daura: expected --cutoff, found none"},
             {with("gromacs", "1", "2"), "--method gromacs: expected --cutoff alone, found --k"},
             {with("dbscan", "", ""), "--method dbscan: expected --cutoff, found none"},
             {with("average", "", ""), "expected --cutoff or --k, found neither"},
             {with("ward", "1", "2"), "expected one of --cutoff and --k, found both"},
             {with("kmedoids", "", ""), "expected --k, found none"},
             {with("kmedoids", "1", "2"), "expected --k alone, found --cutoff"},
             {with("density-peaks", "1", ""), "expected --k, found none"},
             {with("density-peaks", "1:2:1", "2:3"), "found both"},
             {with("average", "", "11"),
              "--k: expected no more clusters than the 10 items, found 11"},
             {with("average", "", "2:11"),
              "--k: expected no more clusters than the 10 items, found 11"},
             {with("centroid", "1", ""), "--method: expected one of"}}) {
        try {
            run(distances, parameters, threads(1));
            ADD_FAILURE() << part;
        } catch (const UsageError& error) {
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
        }
    }
}

TEST(Values, AreOneNumberOrARange) {
    EXPECT_EQ(parse_cutoffs("2.5", "cutoff"), std::vector<double>({2.5}));
    EXPECT_EQ(parse_cutoffs("1:2:0.5", "cutoff"), std::vector<double>({1, 1.5, 2}));
    EXPECT_EQ(parse_cutoffs("0.1:0.3:0.1", "cutoff").size(), 3u);
    EXPECT_EQ(parse_counts("2:5", "k"), std::vector<double>({2, 3, 4, 5}));
    EXPECT_EQ(parse_counts("2:9:3", "k"), std::vector<double>({2, 5, 8}));
    EXPECT_EQ(parse_counts("7", "k"), std::vector<double>({7}));
    for (const char* bad : {"", "0", "-1", "nan", "inf", "1:2", "1:2:0", "2:1:0.5", "1:2:3:4",
                            "1:x:2", "1:2:-1", "1e40", "1:2:1e-9", "1 2", "2.5A"})
        EXPECT_THROW(parse_cutoffs(bad, "cutoff"), UsageError) << bad;
    for (const char* bad : {"", "0", "1.5", "-2", "3:2", "2:4:0", "2:4:0.5", "1e10", "x", "2:"})
        EXPECT_THROW(parse_counts(bad, "k"), UsageError) << bad;
}

/// Asks to stop as soon as anybody looks.
struct Stop final : Progress {
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
    bool cancelled() override { return true; }
    void message(std::string_view) override {}
};

TEST(Run, StopsWhenAsked) {
    const StoredDistances distances = grouped_distances(100, 3, 2);
    Stop stop;
    Context context = threads(1);
    context.progress = &stop;
    for (const Parameters& parameters : every_method())
        EXPECT_THROW(run(distances, parameters, context), Cancelled) << parameters.method;
}

}  // namespace
}  // namespace pleat::cluster
