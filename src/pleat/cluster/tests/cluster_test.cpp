// run(): what each method needs, sweeps, the histogram, and the same result on any threads.
#include "pleat/cluster/cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "pleat/cluster/methods/methods.h"
#include "pleat/cluster/neighbours/neighbours.h"
#include "pleat/cluster/output.h"
#include "pleat/cluster/tests/cases.h"
#include "pleat/core/error.h"
#include "pleat/core/run/manifest.h"

namespace pleat::cluster {
namespace {

using test::every_method;
using test::expect_same;
using test::grouped_pairs;
using test::kTooMany;
using test::OddBands;
using test::OnALine;
using test::random_pairs;
using test::shown;
using test::threads;
using test::with;

TEST(Run, GivesTheSameOnAnyThreadsAndFromAnyBands) {
    const StoredPairs distances = grouped_pairs(250, 4, 8);
    for (const Parameters& parameters : every_method()) {
        SCOPED_TRACE(shown(parameters));
        const Result one = run(distances, parameters, threads(1));
        const Result three = run(OddBands(distances, 23), parameters, threads(3));
        expect_same(three, one);
        EXPECT_EQ(one.clustering.assignment.size(), 250u);
        for (const std::string_view key : citations(parameters.method, true))
            EXPECT_EQ(find_citation(key).key, key);
    }
}

TEST(Run, OfOneItemOrTwo) {
    for (const Index count : {1, 2}) {
        const StoredPairs distances = random_pairs(count, 0, 1);
        for (Parameters parameters : every_method()) {
            if (parameters.k.is_set()) parameters.k = 1;
            if (parameters.method == Method::dbscan) parameters.min_neighbours = 1;
            // Two items have no others in common.
            if (parameters.method == Method::jarvis_patrick) parameters.common = 0;
            const Result result = run(distances, parameters, threads(1));
            EXPECT_EQ(result.clustering.assignment,
                      std::vector<std::int32_t>(static_cast<std::size_t>(count), 0))
                << shown(parameters);
            EXPECT_EQ(result.statistics.pairs(), count - 1);
        }
    }
}

TEST(Run, FindsTheNumberOfGroupsInASweep) {
    const StoredPairs distances = grouped_pairs(240, 6, 21);
    for (const Method method : {Method::average, Method::complete, Method::ward, Method::kmedoids,
                                Method::density_peaks}) {
        const Result result = run(distances, with(method, {}, {2, 12}), threads(2));
        EXPECT_EQ(result.clustering.cluster_count(), 6) << static_cast<int>(method);
        ASSERT_EQ(result.sweep.size(), 11u);
        double best = -1;
        for (const SweepPoint& point : result.sweep) best = std::max(best, point.silhouette);
        EXPECT_EQ(result.sweep[4].silhouette, best);
        EXPECT_EQ(result.silhouette, best);
        EXPECT_FALSE(std::isnan(result.clusters[0].silhouette));
    }
    const Result result = run(distances, with(Method::gromos, {1, 9, 1}, {}), threads(2));
    EXPECT_EQ(result.clustering.cluster_count(), 6);
    EXPECT_EQ(result.sweep.size(), 9u);
}

TEST(Run, SumsUpAllPairs) {
    const StoredPairs distances = random_pairs(120, 0, 5);
    Parameters parameters = with(Method::gromos, 0.2, {});
    parameters.bin_width = 0.125;
    const Result result = run(distances, parameters, threads(2));
    std::vector<std::int64_t> histogram(8, 0);
    double sum = 0;
    for (const float value : distances.condensed()) {
        ++histogram.at(static_cast<std::size_t>(value / 0.125));
        sum += value;
    }
    EXPECT_EQ(result.statistics.histogram(), histogram);
    EXPECT_NEAR(result.statistics.mean(), sum / 7140, 1e-9);
    EXPECT_TRUE(std::isnan(result.silhouette));
}

TEST(Run, UsesTheReductionsOfADevice) {
    const OnALine source(kTooMany, true), plain(kTooMany, false);
    const Parameters gromos = with(Method::gromos, 0.5, {});
    const Result found = run(source, gromos, threads(1)), expected = run(plain, gromos, threads(1));
    EXPECT_EQ(source.clusterings, 1);
    EXPECT_EQ(source.lists, 0);
    std::vector<std::int32_t> neighbours =
        find_neighbours(plain, 0.5, threads(1), std::int64_t{1} << 30)->degrees();
    for (std::int32_t& count : neighbours) --count;  // an item is its own neighbour
    EXPECT_EQ(source.given_neighbours, neighbours);
    EXPECT_GT(expected.clustering.cluster_count(), 3);
    EXPECT_EQ(found.clustering.assignment, expected.clustering.assignment);
    EXPECT_EQ(found.clustering.centres, expected.clustering.centres);
    EXPECT_EQ(found.statistics.histogram(), expected.statistics.histogram());
    EXPECT_EQ(found.statistics.max(), expected.statistics.max());
    EXPECT_NEAR(found.statistics.mean(), expected.statistics.mean(), 1e-9);
    for (std::size_t c = 0; c < expected.clusters.size(); ++c) {
        EXPECT_EQ(found.clusters[c].medoid, expected.clusters[c].medoid);
        EXPECT_EQ(found.clusters[c].radius, expected.clusters[c].radius);
    }
    // Other methods need values, and so do few items, whose pairs are kept.
    EXPECT_THROW(run(source, with(Method::dbscan, 0.5, {}), threads(1)), std::logic_error);
    EXPECT_THROW(run(OnALine(100, true), gromos, threads(1)), std::logic_error);
}

TEST(Run, UsesWhatIsKnownOfAllPairs) {
    const StoredPairs stored = grouped_pairs(120, 4, 8);
    KnownPairs known{.starts = {0}, .indices = {}, .values = {}, .cutoff = 4, .statistics = {}};
    for (Index i = 0; i < 120; ++i) {
        for (Index j = 0; j < 120; ++j)
            if (i != j && stored.at(i, j) < 4) {
                known.indices.push_back(static_cast<std::int32_t>(j));
                known.values.push_back(stored.at(i, j));
            }
        known.starts.push_back(static_cast<std::int64_t>(known.indices.size()));
    }
    for (const Method method : {Method::gromos, Method::gmx, Method::dbscan}) {
        const Parameters parameters = with(method, 3, {});
        const Result expected = run(stored, parameters, threads(1));
        known.statistics = expected.statistics;
        const OddBands source(stored, 23);
        const Result found = run(source, parameters, threads(1), &known);
        EXPECT_EQ(source.bands, 0);
        expect_same(found, expected);
        run(source, with(method, 5, {}), threads(1), &known);
        EXPECT_GT(source.bands, 0) << "the list ends below the cutoff";
    }
}

// Where each pass superposes all frames, a second one takes as long again.
TEST(Run, MakesATreeFromOnePass) {
    const OnALine plain(kTooMany, false);
    EXPECT_GT(run(plain, with(Method::single, 0.5, {}), threads(1)).clustering.cluster_count(), 3);
    EXPECT_EQ(plain.bands, (kTooMany - 2) / 100 + 1);
}

// The unit of distances, and the histogram's bins, mean nothing to clusters.
TEST(Run, PeaksWithoutACutoffAreTheSameInAnyUnit) {
    const StoredPairs distances = grouped_pairs(200, 4, 12);
    Parameters peaks = with(Method::density_peaks, {}, 4);
    const Result expected = run(distances, peaks, threads(2));
    std::int64_t neighbours = 0;
    for (const Peak& peak : expected.peaks) neighbours += peak.density;
    EXPECT_EQ(neighbours / 2, 398) << "2 % of 19,900 pairs";
    for (const double factor : {1e-3, 1.0, 1e9}) {
        std::vector<float> pairs;
        for (const float pair : distances.condensed())
            pairs.push_back(static_cast<float>(pair * factor));
        peaks.bin_width = factor == 1.0 ? 10.0 : 0.05;
        const Result found = run(StoredPairs(200, std::move(pairs)), peaks, threads(2));
        EXPECT_EQ(found.clustering.assignment, expected.clustering.assignment) << factor;
        EXPECT_NEAR(found.cutoff, factor * expected.cutoff, 1e-6 * found.cutoff);
    }
    EXPECT_EQ(run(random_pairs(1, 1, 1), with(Method::density_peaks, {}, 1), threads(1))
                  .clustering.cluster_count(),
              1);
}

/// With an option that only dbscan has.
Parameters cored(Method method) {
    Parameters parameters = with(method, 1, {});
    parameters.min_neighbours = 7;
    return parameters;
}

TEST(Run, RefusesOptionsThatDoNotGoTogether) {
    const StoredPairs distances = random_pairs(10, 4, 5);
    for (const auto& [parameters, words] : std::vector<std::pair<Parameters, std::string>>{
             {with(Method::gromos, {}, {}), "--method gromos: give --cutoff"},
             {with(Method::gmx, 1, 2), "--method gmx: give --cutoff alone, not --k"},
             {with(Method::dbscan, {}, {}), "--method dbscan: give --cutoff"},
             {with(Method::average, {}, {}), "give --cutoff or --k"},
             {with(Method::ward, 1, 2), "give either --cutoff or --k, not both"},
             {with(Method::kmedoids, {}, {}), "give --k"},
             {with(Method::kmedoids, 1, 2), "give --k alone, not --cutoff"},
             {with(Method::density_peaks, 1, {}), "give --k"},
             {with(Method::density_peaks, {1, 2, 1}, {2, 3}), "not of both"},
             {with(Method::average, {}, 11), "--k: 11 clusters are more than the 10 items"},
             {with(Method::average, {}, {2, 11}), "--k: 11 clusters are more than the 10 items"},
             {with(Method::average, {}, 0), "--k: expected a whole number >= 1"},
             {with(Method::average, {}, {2, 5, 0.5}), "--k: expected a whole number >= 1"},
             {with(Method::gromos, -1, {}), "--cutoff: expected a number from 1e-30 to 1e30"},
             {with(Method::gromos, {2, 1, 0.5}, {}), "--cutoff: expected a number"},
             {cored(Method::gromos), "--method gromos: leave --min-neighbours out"},
             {cored(Method::density_peaks), "density-peaks: leave --min-neighbours out"}}) {
        try {
            run(distances, parameters, threads(1));
            ADD_FAILURE() << words;
        } catch (const UsageError& error) {
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    }
}

TEST(Parameters, ReadMethodsAndRangesOfCutoffs) {
    Parameters parameters;
    for (Field& field : fields(parameters)) {
        if (field.name == "method") {
            field.set("gmx");
            EXPECT_EQ(parameters.method, Method::gmx);
            field.set("gromos");
            EXPECT_EQ(parameters.method, Method::gromos);
            EXPECT_EQ(field.text(), "gromos");
        }
        if (field.name != "cutoff") continue;
        field.set("1:4:0.5");
        EXPECT_EQ(parameters.cutoff.values().size(), 7u);
        EXPECT_EQ(field.text(), "1:4:0.5");
        EXPECT_THROW(field.set("1:4"), UsageError);
        EXPECT_EQ(field.text(), "1:4:0.5");
        field.set("");
        EXPECT_FALSE(parameters.cutoff.is_set());
    }
}

TEST(ValueRange, IsOneNumberOrARange) {
    const auto cutoffs = [](const char* text) {
        return CutoffRange::parse(text, "cutoff").values();
    };
    const auto counts = [](const char* text) { return CountRange::parse(text, "k").values(); };
    EXPECT_EQ(cutoffs("2.5"), std::vector<double>({2.5}));
    EXPECT_EQ(cutoffs("1:2:0.5"), std::vector<double>({1, 1.5, 2}));
    EXPECT_EQ(cutoffs("0.1:0.3:0.1").size(), 3u);
    EXPECT_EQ(counts("2:5"), std::vector<double>({2, 3, 4, 5}));
    EXPECT_EQ(counts("2:9:3"), std::vector<double>({2, 5, 8}));
    EXPECT_EQ(counts("7"), std::vector<double>({7}));
    EXPECT_TRUE(cutoffs("").empty());
    EXPECT_TRUE(counts("").empty());
    EXPECT_EQ(CountRange::parse("2:9:3", "k").text(), "2:9:3");
    EXPECT_EQ(CountRange::parse("2:9:1", "k").text(), "2:9");
    for (const char* bad : {"0", "-1", "nan", "inf", "1:2", "1:2:0", "2:1:0.5", "1:2:3:4", "1:x:2",
                            "1:2:-1", "1e40", "1e-50", "1:1e40:1e39", "1:2:1e-9", "1 2", "2.5A"})
        EXPECT_THROW(CutoffRange::parse(bad, "cutoff"), UsageError) << bad;
    for (const char* bad : {"0", "1.5", "-2", "3:2", "2:4:0", "2:4:0.5", "1e10", "x", "2:"})
        EXPECT_THROW(CountRange::parse(bad, "k"), UsageError) << bad;
}

/// Asks to stop as soon as anybody looks.
struct Stop final : Progress {
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
    bool cancelled() override { return true; }
    void message(std::string_view) override {}
};

TEST(Run, StopsWhenAsked) {
    const StoredPairs distances = grouped_pairs(100, 3, 2);
    Stop stop;
    Context context = threads(1);
    context.progress = &stop;
    for (const Parameters& parameters : every_method())
        EXPECT_THROW(run(distances, parameters, context), Cancelled) << shown(parameters);
}

}  // namespace
}  // namespace pleat::cluster
