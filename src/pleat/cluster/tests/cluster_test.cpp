// run(): what each method needs, sweeps, the histogram, and the same result on any threads.
#include "pleat/cluster/cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "pleat/cluster/distances/neighbours.h"
#include "pleat/cluster/methods/greedy.h"
#include "pleat/cluster/output.h"
#include "pleat/cluster/tests/random_distances.h"
#include "pleat/cluster/values.h"
#include "pleat/core/error.h"
#include "pleat/core/run/citations.h"

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
        for (const std::string_view key : citations(parameters.method, true))
            EXPECT_EQ(find_citation(key).key, key);
    }
}

TEST(Run, OfOneItemOrTwo) {
    for (const Index count : {1, 2}) {
        const StoredDistances distances = random_distances(count, 0, 1);
        for (Parameters parameters : every_method()) {
            if (!parameters.k.empty()) parameters.k = "1";
            if (parameters.method == "dbscan") parameters.least_neighbours = 1;
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
    EXPECT_TRUE(std::isnan(result.silhouette));
}

/// Items around places on a line, too many for their pairs to be kept; and what a device would tell
/// of them, from a single pass.
class OnALine final : public Distances, public WorkInPlace {
public:
    OnALine(Index count, bool in_place) : count_(count), in_place_(in_place) {
        for (Index i = 0; i < count; ++i)
            places_.push_back(static_cast<float>(10 * (i * i % 7) + (i * 37 % 101) / 50.0));
    }

    Index count() const override { return count_; }
    void for_each_band(std::string_view, const BandVisitor& visit) const override {
        if (in_place_) throw std::logic_error("expected no bands to be asked for");
        ++passes;
        pass(visit);
    }
    void for_each_band_among(std::span<const Index> items,
                             const BandVisitor& visit) const override {
        const auto many = static_cast<Index>(items.size());
        std::vector<float> row;
        for (Index a = 0; a < many - 1; ++a) {
            row.clear();
            for (Index b = a + 1; b < many; ++b) row.push_back(at(items[a], items[b]));
            visit({a, 1}, row.data());
        }
    }
    void rows(std::span<const Index> items, float* distances) const override {
        for (const Index i : items)
            for (Index j = 0; j < count_; ++j) *distances++ = at(i, j);
    }
    double doubt(double) const override { return 0.0; }
    bool is_below(Index i, Index j, double cutoff) const override {
        return at(i, j) < static_cast<float>(cutoff);
    }
    const WorkInPlace* in_place() const override { return in_place_ ? this : nullptr; }
    PairTotals totals(double bin) const override {
        PairSummary pairs(count_, bin, 1);
        pass([&](Block rows, const float* values) { pairs.add(rows, values); });
        return {pairs.histogram(), pairs.mean() * static_cast<double>(pairs.pairs()), pairs.least(),
                pairs.most()};
    }
    Clustering daura(double cutoff) const override {
        ++clusterings;
        const OnALine plain(count_, false);
        const auto near = find_neighbours(plain, cutoff, threads(1), std::int64_t{1} << 30);
        return cluster::daura(*near, threads(1));
    }

    mutable int clusterings = 0, passes = 0;

private:
    float at(Index i, Index j) const { return std::fabs(places_[i] - places_[j]); }
    void pass(const BandVisitor& visit) const {
        constexpr Index kRows = 100;
        std::vector<float> band;
        for (Index first = 0; first < count_; first += kRows) {
            const Index end = std::min(first + kRows, count_);
            band.clear();
            for (Index i = first; i < end; ++i)
                for (Index j = i + 1; j < count_; ++j) band.push_back(at(i, j));
            visit({first, end - first}, band.data());
        }
    }

    Index count_;
    bool in_place_;
    std::vector<float> places_;
};

TEST(Run, TakesWhatASourceDoesItself) {
    const OnALine source(11'700, true), plain(11'700, false);
    const Parameters daura = with("daura", "0.5", "");
    const Result found = run(source, daura, threads(1)), expected = run(plain, daura, threads(1));
    EXPECT_EQ(source.clusterings, 1);
    EXPECT_GT(expected.clustering.cluster_count(), 3);
    EXPECT_EQ(found.clustering.assignment, expected.clustering.assignment);
    EXPECT_EQ(found.clustering.centres, expected.clustering.centres);
    EXPECT_EQ(found.pairs.histogram(), expected.pairs.histogram());
    EXPECT_EQ(found.pairs.pairs(), expected.pairs.pairs());
    EXPECT_EQ(found.pairs.most(), expected.pairs.most());
    EXPECT_NEAR(found.pairs.mean(), expected.pairs.mean(), 1e-9);
    for (std::size_t c = 0; c < expected.clusters.size(); ++c) {
        EXPECT_EQ(found.clusters[c].medoid, expected.clusters[c].medoid);
        EXPECT_EQ(found.clusters[c].radius, expected.clusters[c].radius);
    }
    // Other methods ask for pairs, and so does whoever keeps them all.
    EXPECT_THROW(run(source, with("dbscan", "0.5", ""), threads(1)), std::logic_error);
    EXPECT_THROW(run(OnALine(100, true), daura, threads(1)), std::logic_error);
}

// Where each pass superposes all frames, a second one takes as long again.
TEST(Run, MakesATreeFromOnePass) {
    const OnALine plain(11'700, false);
    EXPECT_GT(run(plain, with("single", "0.5", ""), threads(1)).clustering.cluster_count(), 3);
    EXPECT_EQ(plain.passes, 1);
}

// The unit of distances, and the histogram's bins, mean nothing to clusters.
TEST(Run, PeaksWithoutACutOffAreTheSameInAnyUnit) {
    const StoredDistances distances = grouped_distances(200, 4, 12);
    Parameters peaks = with("density-peaks", "", "4");
    const Result expected = run(distances, peaks, threads(2));
    std::int64_t neighbours = 0;
    for (const Peak& peak : expected.peaks) neighbours += peak.density;
    EXPECT_EQ(neighbours / 2, 398) << "2 % of 19,900 pairs";
    for (const double factor : {1e-3, 1.0, 1e9}) {
        std::vector<float> pairs;
        for (const float pair : distances.condensed())
            pairs.push_back(static_cast<float>(pair * factor));
        peaks.bin = factor == 1.0 ? 10.0 : 0.05;
        const Result found = run(StoredDistances(200, std::move(pairs)), peaks, threads(2));
        EXPECT_EQ(found.clustering.assignment, expected.clustering.assignment) << factor;
        EXPECT_NEAR(found.cutoff, factor * expected.cutoff, 1e-6 * found.cutoff);
    }
    EXPECT_EQ(run(random_distances(1, 1, 1), with("density-peaks", "", "1"), threads(1))
                  .clustering.cluster_count(),
              1);
}

/// With an option that is dbscan's alone.
Parameters cored(const std::string& method) {
    Parameters parameters = with(method, "1", "");
    parameters.least_neighbours = 7;
    return parameters;
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
             {cored("daura"), "--method daura: expected no --least-neighbours, found one"},
             {cored("density-peaks"), "density-peaks: expected no --least-neighbours"},
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
    for (const char* bad :
         {"", "0", "-1", "nan", "inf", "1:2", "1:2:0", "2:1:0.5", "1:2:3:4", "1:x:2", "1:2:-1",
          "1e40", "1e-50", "1:1e40:1e39", "1:2:1e-9", "1 2", "2.5A"})
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
