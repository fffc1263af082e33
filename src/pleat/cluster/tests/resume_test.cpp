// Clustering on several ranks, and resuming after a cancel: the same results, and nothing twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>
#include <vector>

#include "pleat/cluster/tests/cases.h"
#include "pleat/core/error.h"
#include "pleat/core/ranks/rank_files.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/core/tests/thread_comm.h"

namespace pleat::cluster {
namespace {

using test::every_method;
using test::expect_same;
using test::grouped_pairs;
using test::kTooMany;
using test::OddBands;
using test::OnALine;
using test::shown;
using test::threads;
using test::with;

/// Asks to stop after so many reports.
struct StopAfter final : Progress {
    explicit StopAfter(int reports) : left(reports) {}
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view note) override {
        --left;
        resumed = resumed || note == "resumed";
    }
    bool cancelled() override { return left <= 0; }
    void message(std::string_view) override {}
    std::atomic<int> left;
    bool resumed = false;
};

/// Runs on `ranks` ranks, each with a progress of its own that stops after so many reports; returns
/// rank 0's result, or nothing if it was cancelled.
std::optional<Result> run_on_ranks(const PairSource& source, const Parameters& parameters,
                                   int ranks, const std::filesystem::path& checkpoint,
                                   int reports = 1 << 30) {
    std::vector<std::optional<Result>> results(static_cast<std::size_t>(ranks));
    pleat::test::on_ranks(ranks, [&](Comm& comm) {
        StopAfter progress(reports);
        Context context = threads(1);
        context.comm = &comm;
        context.checkpoint = checkpoint;
        context.checkpoint_seconds = 0.0;
        context.progress = &progress;
        try {
            results[static_cast<std::size_t>(comm.rank())] = run(source, parameters, context);
        } catch (const Cancelled&) {
        }
    });
    for (const std::optional<Result>& result : results) {
        EXPECT_EQ(result.has_value(), results[0].has_value());
        if (result && results[0]) expect_same(*result, *results[0]);
    }
    return std::move(results[0]);
}

TEST(Resume, GivesTheSameOnOneToThreeRanks) {
    const StoredPairs stored = grouped_pairs(250, 4, 8);
    const OddBands source(stored, 23);
    for (const Parameters& parameters : every_method()) {
        SCOPED_TRACE(shown(parameters));
        const Result expected = run(stored, parameters, threads(1));
        for (const int ranks : {1, 2, 3}) {
            const pleat::test::TemporaryFolder folder;
            const auto found = run_on_ranks(source, parameters, ranks, folder / "checkpoint.npz");
            ASSERT_TRUE(found);
            expect_same(*found, expected);
        }
    }
}

TEST(Resume, OfMoreItemsThanAreKeptGivesTheSameOnRanks) {
    const OnALine source(kTooMany, false);
    for (const Parameters& parameters :
         {with(Method::gromos, 0.5, {}), with(Method::dbscan, {0.3, 0.5, 0.2}, {}),
          with(Method::kmedoids, {}, 4), with(Method::density_peaks, {}, 4)}) {
        SCOPED_TRACE(shown(parameters));
        const Result expected = run(source, parameters, threads(2));
        const pleat::test::TemporaryFolder folder;
        const auto found = run_on_ranks(source, parameters, 2, folder / "checkpoint.npz");
        ASSERT_TRUE(found);
        expect_same(*found, expected);
    }
}

TEST(Resume, ResumesAfterACancelOnAnyNumberOfRanks) {
    const StoredPairs stored = grouped_pairs(250, 4, 8);
    for (const Parameters& parameters : every_method()) {
        SCOPED_TRACE(shown(parameters));
        const Result expected = run(stored, parameters, threads(1));
        const pleat::test::TemporaryFolder folder;
        const OddBands source(stored, 23);  // 11 bands
        EXPECT_FALSE(run_on_ranks(source, parameters, 2, folder / "checkpoint.npz", 3));
        const int before = source.bands;
        EXPECT_LT(before, 11);
        const auto found = run_on_ranks(source, parameters, 3, folder / "checkpoint.npz");
        ASSERT_TRUE(found);
        expect_same(*found, expected);
        EXPECT_EQ(source.bands, 11) << "finished bands were computed again";
    }
}

TEST(Resume, OfCentresGivesTheSameOnRanksAndAfterACancel) {
    const StoredPairs stored = grouped_pairs(250, 4, 8);
    for (Parameters parameters : {with(Method::kcenters, {}, 6), with(Method::kcenters, 3, {}),
                                  with(Method::kcenters, {}, 7)}) {
        parameters.medoid_sweeps = parameters.k.is_set() && *parameters.k.first == 7 ? 2 : 0;
        SCOPED_TRACE(shown(parameters));
        const Result expected = run(stored, parameters, threads(1));
        ASSERT_GT(expected.clusters.size(), 4U);
        for (const int reports : {3, 5, 1 << 30}) {
            const pleat::test::TemporaryFolder folder;
            const auto checkpoint = folder / "checkpoint.npz";
            const OddBands source(stored, 23);
            const auto first = run_on_ranks(source, parameters, 2, checkpoint, reports);
            EXPECT_EQ(first.has_value(), reports > 5);
            const auto found = run_on_ranks(source, parameters, 3, checkpoint);
            ASSERT_TRUE(found);
            expect_same(*found, expected);
        }
    }
}

TEST(Resume, ResumesLaterStagesAfterACancel) {
    const Parameters gromos = with(Method::gromos, 0.5, {});
    const OnALine whole(kTooMany, false);
    const Result expected = run(whole, gromos, threads(2));
    const pleat::test::TemporaryFolder folder;
    const OnALine source(kTooMany, false);
    const int bands = whole.bands, clusters = static_cast<int>(expected.clusters.size());
    // All bands, the clustering, and the first description.
    EXPECT_FALSE(run_on_ranks(source, gromos, 1, folder / "checkpoint.npz", bands + clusters + 2));
    EXPECT_EQ(source.bands, bands);
    EXPECT_GT(source.lists, 0);
    EXPECT_LT(source.lists, clusters);
    const auto found = run_on_ranks(source, gromos, 1, folder / "checkpoint.npz");
    ASSERT_TRUE(found);
    expect_same(*found, expected);
    EXPECT_EQ(source.bands, bands) << "a finished pass was computed again";
    EXPECT_EQ(source.lists, clusters) << "a finished description was computed again";
}

TEST(Resume, RefusesACheckpointOfOtherInput) {
    const StoredPairs first = grouped_pairs(250, 4, 8), second = grouped_pairs(250, 4, 9);
    const Parameters parameters = with(Method::gromos, 3, {});
    const pleat::test::TemporaryFolder folder;
    EXPECT_FALSE(run_on_ranks(OddBands(first, 23), parameters, 1, folder / "checkpoint.npz", 3));
    Context context = threads(1);
    context.checkpoint = folder / "checkpoint.npz";
    EXPECT_THROW(run(OddBands(second, 23), parameters, context), InputError);
}

TEST(Resume, KeepsSumsInFilesOfKnownNames) {
    const StoredPairs stored = grouped_pairs(250, 4, 8);
    for (const Parameters& parameters : every_method()) {
        const pleat::test::TemporaryFolder folder;
        const std::filesystem::path checkpoint = folder / "checkpoint.npz";
        EXPECT_FALSE(run_on_ranks(OddBands(stored, 23), parameters, 1, checkpoint, 3));
        const std::vector<std::string> names = checkpoint_names(parameters, checkpoint);
        for (const std::string& name : folder.names())
            EXPECT_TRUE(std::ranges::any_of(names, [&](const std::string& known) {
                return name == known || is_rank_file(name, known);
            })) << name;
        EXPECT_FALSE(folder.names().empty());
    }
}

}  // namespace
}  // namespace pleat::cluster
