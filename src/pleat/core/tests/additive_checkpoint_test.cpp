// Tests of additive checkpoints: any kill, any number of ranks before and after, the same totals.
#include "pleat/core/loops/additive_checkpoint.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>

#include "pleat/core/error.h"
#include "pleat/core/ranks/rank_files.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/core/tests/thread_comm.h"

namespace pleat {
namespace {

using test::error_text;
using test::on_ranks;
using test::slurp;
using test::spill;
using test::TemporaryFolder;

constexpr Index kValues = 5;

/// What every tile adds to.
struct Sums {
    std::vector<std::int64_t> sums = std::vector<std::int64_t>(kValues);
    std::vector<std::uint32_t> counts = std::vector<std::uint32_t>(kValues);
    std::vector<double> maxima =
        std::vector<double>(kValues, std::numeric_limits<double>::lowest());

    void take(const Tile& tile) {
        std::mt19937_64 random(static_cast<std::uint64_t>(tile.id));
        for (std::size_t i = 0; i < kValues; ++i) {
            sums[i] += static_cast<std::int64_t>(random() >> 8) - (std::int64_t{1} << 55);
            counts[i] += static_cast<std::uint32_t>(random() % 1000);
            maxima[i] = std::max(maxima[i], static_cast<double>(random()) / 3.0);
        }
    }
    std::vector<std::uint64_t> bits() const {
        std::vector<std::uint64_t> bits;
        for (const std::int64_t value : sums) bits.push_back(static_cast<std::uint64_t>(value));
        for (const std::uint32_t value : counts) bits.push_back(value);
        for (const double value : maxima) bits.push_back(std::bit_cast<std::uint64_t>(value));
        return bits;
    }
};

std::vector<Tile> make_tiles(Index count) {
    std::vector<Tile> tiles;
    for (Index id = 0; id < count; ++id) tiles.push_back({.id = id, .items = 1 + id % 3});
    return tiles;
}

std::vector<std::uint64_t> expected(std::span<const Tile> tiles) {
    Sums sums;
    for (const Tile& tile : tiles) sums.take(tile);
    return sums.bits();
}

struct Job {
    std::filesystem::path checkpoint;
    double save_seconds = 0.0;
    std::string problem = "problem";
    std::function<void(const Tile&)> before = [](const Tile&) {};
    std::atomic<int> computed = 0;

    /// On one rank; the totals.
    std::vector<std::uint64_t> operator()(Comm& comm, std::span<const Tile> tiles) {
        Context context;
        context.comm = &comm;
        context.checkpoint = checkpoint;
        context.checkpoint_seconds = save_seconds;
        Sums sums;
        AdditiveCheckpoint saved(context, "sums", problem, static_cast<Index>(tiles.size()));
        saved.add("sums", sums.sums);
        saved.add("counts", sums.counts);
        saved.raise("maxima", sums.maxima);
        saved.resume();
        sweep(context, "sums", tiles, saved, [&](const Tile& tile, View<float, 2>) {
            before(tile);
            sums.take(tile);
            ++computed;
        });
        saved.total();
        return sums.bits();
    }
};

/// Runs on `ranks` and dies in the midst of the tile that is the `last`-th to be computed; true
/// when all were done before.
bool run_and_die(const std::filesystem::path& checkpoint, int ranks, int last,
                 std::span<const Tile> tiles) {
    const pid_t child = ::fork();
    if (child == 0) {
        Job job{.checkpoint = checkpoint};
        job.before = [&](const Tile&) {
            if (job.computed >= last) ::_exit(7);
        };
        on_ranks(ranks, [&](Comm& comm) { job(comm, tiles); });
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 7));
    return WEXITSTATUS(status) == 0;
}

void expect_on_ranks(int ranks, Job& job, std::span<const Tile> tiles) {
    on_ranks(ranks, [&](Comm& comm) { EXPECT_EQ(job(comm, tiles), expected(tiles)); });
}

TEST(AdditiveCheckpoint, GivesTheSameTotalsOnAnyNumberOfRanks) {
    const auto tiles = make_tiles(11);
    for (const int ranks : {1, 2, 3, 5, 13}) {
        TemporaryFolder folder;
        Job job{.checkpoint = folder / "checkpoint.npz"};
        expect_on_ranks(ranks, job, tiles);
        EXPECT_EQ(job.computed, 11);
        Job again{.checkpoint = folder / "checkpoint.npz"};
        expect_on_ranks(2, again, tiles);
        EXPECT_EQ(again.computed, 0);
    }
    Job unsaved;
    expect_on_ranks(2, unsaved, tiles);
    expect_on_ranks(1, unsaved, {});
}

TEST(AdditiveCheckpoint, AnyKillsAndAnyRanksBetweenThemGiveTheSameBits) {
    const auto tiles = make_tiles(17);
    std::mt19937 random(1);
    for (int trial = 0; trial < 12; ++trial) {
        TemporaryFolder folder;
        const std::filesystem::path checkpoint = folder / "checkpoint.npz";
        int deaths = 0;
        while (!run_and_die(checkpoint, 1 + static_cast<int>(random() % 4),
                            1 + static_cast<int>(random() % 6), tiles))
            ++deaths;
        EXPECT_GE(deaths, 2);
        Job last{.checkpoint = checkpoint};
        expect_on_ranks(1 + trial % 3, last, tiles);
        EXPECT_EQ(last.computed, 0);
    }
}

/// The rank files' bytes by name.
std::map<std::string, std::string> files_of(const std::filesystem::path& checkpoint) {
    std::map<std::string, std::string> files;
    for (const auto& path : rank_files(checkpoint)) files[path.string()] = slurp(path);
    return files;
}

TEST(AdditiveCheckpoint, PartsThatAMergeLeftBehindAreNotCountedTwice) {
    const auto tiles = make_tiles(16);
    TemporaryFolder folder, other;
    const std::filesystem::path checkpoint = folder / "checkpoint.npz";
    ASSERT_FALSE(run_and_die(checkpoint, 4, 9, tiles));
    const auto before = files_of(checkpoint);
    ASSERT_EQ(before.size(), 4u);
    for (const auto& [path, bytes] : before)
        spill(other.path() / std::filesystem::path(path).filename(), bytes);
    Job plain{.checkpoint = other / "checkpoint.npz"};
    expect_on_ranks(2, plain, tiles);
    EXPECT_LE(plain.computed, 12);

    ASSERT_FALSE(run_and_die(checkpoint, 1, 0, tiles));  // merges, and dies in its first tile
    const auto merged = files_of(checkpoint);
    ASSERT_EQ(merged.size(), 1u);
    TemporaryFolder third;
    spill(rank_file(third / "checkpoint.npz", 0), merged.begin()->second);
    Job from_merged{.checkpoint = third / "checkpoint.npz"};
    expect_on_ranks(3, from_merged, tiles);
    EXPECT_EQ(from_merged.computed, plain.computed.load());
    // As if the kill had come before the parts were removed.
    for (const auto& [path, bytes] : before) {
        if (path != rank_file(checkpoint, 0)) spill(path, bytes);
    }
    Job job{.checkpoint = checkpoint};
    expect_on_ranks(2, job, tiles);
    EXPECT_EQ(job.computed, plain.computed.load());
}

TEST(AdditiveCheckpoint, OverlappingPartsCostTimeOnly) {
    const auto tiles = make_tiles(12);
    TemporaryFolder folder, other;
    ASSERT_FALSE(run_and_die(folder / "checkpoint.npz", 2, 4, tiles));
    ASSERT_FALSE(run_and_die(other / "checkpoint.npz", 3, 7, tiles));
    // A file of other ranks that holds tiles which are in others too.
    spill(folder / "checkpoint.rank7.npz", slurp(other / "checkpoint.rank1.npz"));
    spill(folder / "checkpoint.rank5.npz", slurp(other / "checkpoint.rank0.npz"));
    Job job{.checkpoint = folder / "checkpoint.npz"};
    expect_on_ranks(2, job, tiles);
}

TEST(AdditiveCheckpoint, AFailureInTheMidstOfATileLeavesNoPartOfItInAFile) {
    const auto tiles = make_tiles(10);
    TemporaryFolder folder;
    Job job{.checkpoint = folder / "checkpoint.npz"};
    std::atomic<int> failed = 0, stopped = 0;
    on_ranks(2, [&](Comm& comm) {
        Context context;
        context.comm = &comm;
        context.checkpoint = job.checkpoint;
        context.checkpoint_seconds = 0.0;
        Sums sums;
        AdditiveCheckpoint saved(context, "sums", "problem", 10);
        saved.add("sums", sums.sums);
        saved.add("counts", sums.counts);
        saved.raise("maxima", sums.maxima);
        saved.resume();
        try {
            sweep(context, "sums", tiles, saved, [&](const Tile& tile, View<float, 2>) {
                sums.take(tile);  // the tile is in the sums, and fails then
                if (tile.id == 4) throw DeviceError("lost");
            });
        } catch (const DeviceError&) {
            ++failed;
        } catch (const OtherRankFailed&) {
            ++stopped;
        }
    });
    EXPECT_EQ(failed, 1);
    EXPECT_EQ(stopped, 1);
    expect_on_ranks(3, job, tiles);
    EXPECT_GT(job.computed, 0);
    EXPECT_LT(job.computed, 10);
}

/// Sweeps on one of the ranks with saves that are due at the end alone, and is stopped in the midst
/// of tile 4, before or after the tile is in the sums; the text.
std::string stopped_in_a_tile(Comm& comm, const std::filesystem::path& checkpoint,
                              std::span<const Tile> tiles, bool is_added) {
    Context context;
    context.comm = &comm;
    context.checkpoint = checkpoint;
    context.checkpoint_seconds = 1000.0;
    Sums sums;
    AdditiveCheckpoint saved(context, "sums", "problem", static_cast<Index>(tiles.size()));
    saved.add("sums", sums.sums);
    saved.add("counts", sums.counts);
    saved.raise("maxima", sums.maxima);
    saved.resume();
    return error_text<Cancelled>([&] {
        sweep(context, "sums", tiles, saved, [&](const Tile& tile, View<float, 2>) {
            if (is_added) sums.take(tile);
            saved.compute_before_adding([&] {
                if (tile.id == 4 && !is_added) throw Cancelled("amid");
                return 0;
            });
            if (is_added && tile.id == 4) throw Cancelled("amid");
            if (!is_added) sums.take(tile);
        });
    });
}

TEST(AdditiveCheckpoint, AStopInTheMidstOfATileKeepsTheTilesBeforeIt) {
    const auto tiles = make_tiles(10);
    for (const int ranks : {1, 3}) {
        TemporaryFolder folder;
        Job job{.checkpoint = folder / "checkpoint.npz", .save_seconds = 1000.0};
        std::atomic<int> told = 0;
        on_ranks(ranks, [&](Comm& comm) {
            const std::string text = stopped_in_a_tile(comm, job.checkpoint, tiles, false);
            const std::string place = rank_file(job.checkpoint, comm.rank()).string();
            // The tiles are dealt by size to several ranks: 2, 5, 8; 1, 4, 7; ...
            EXPECT_EQ(text, "sums: stopped after " + std::to_string(ranks == 1 ? 4 : 5) +
                                " of 10 tiles; they are kept in " + place +
                                ": run the same command again to resume");
            ++told;
        });
        EXPECT_EQ(told, ranks);
        expect_on_ranks(2, job, tiles);
        EXPECT_EQ(job.computed, ranks == 1 ? 6 : 5);
    }
}

TEST(AdditiveCheckpoint, AStopAfterATileWasPartlyAddedSavesNoneOfIt) {
    const auto tiles = make_tiles(10);
    TemporaryFolder folder;
    Job job{.checkpoint = folder / "checkpoint.npz"};
    on_ranks(1, [&](Comm& comm) {
        EXPECT_EQ(stopped_in_a_tile(comm, job.checkpoint, tiles, true),
                  "sums: stopped after 4 of 10 tiles; they were not kept in a file");
    });
    EXPECT_TRUE(rank_files(job.checkpoint).empty());
    expect_on_ranks(1, job, tiles);
    EXPECT_EQ(job.computed, 10);
}

TEST(AdditiveCheckpoint, AStopInTheFirstTileKeepsNothing) {
    TemporaryFolder folder;
    on_ranks(1, [&](Comm& comm) {
        std::vector<Tile> tiles = make_tiles(5);
        std::swap(tiles[0], tiles[4]);
        EXPECT_EQ(stopped_in_a_tile(comm, folder / "checkpoint.npz", tiles, false),
                  "sums: stopped before the first of 5 tiles was done; run the same command again "
                  "to resume");
        EXPECT_EQ(stopped_in_a_tile(comm, {}, tiles, false),
                  "sums: stopped before the first of 5 tiles was done");
    });
    EXPECT_TRUE(folder.names().empty());
}

TEST(AdditiveCheckpoint, RefusesAnotherProblemAndDamageOnEveryRank) {
    const auto tiles = make_tiles(6);
    TemporaryFolder folder;
    Job job{.checkpoint = folder / "checkpoint.npz"};
    expect_on_ranks(2, job, tiles);
    const auto refused = [&](Job& again, std::span<const Tile> asked) {
        std::string text;
        std::atomic<int> others = 0;
        on_ranks(3, [&](Comm& comm) {
            try {
                again(comm, asked);
                ADD_FAILURE() << "no error";
            } catch (const InputError& error) {
                text = error.what();
            } catch (const OtherRankFailed&) {
                ++others;
            }
        });
        EXPECT_EQ(others, 2);
        EXPECT_NE(text.find("rank0.npz: "), std::string::npos) << text;
        EXPECT_NE(text.find("; remove this checkpoint, or give --force, to start again"),
                  std::string::npos)
            << text;
        return text;
    };
    Job another{.checkpoint = job.checkpoint, .problem = "another"};
    EXPECT_NE(refused(another, tiles).find("expected the sums of the same input and options"),
              std::string::npos);
    refused(job, make_tiles(7));
    const std::filesystem::path path = rank_file(job.checkpoint, 0);
    const std::string bytes = slurp(path);
    for (std::size_t n = 0; n < bytes.size(); n += 97) {
        spill(path, bytes.substr(0, n));
        refused(job, tiles);
    }
    std::string odd = bytes;
    odd[bytes.find("sweep_tiles_done") + 200] ^= 1;
    spill(path, odd);
    refused(job, tiles);
}

TEST(AdditiveCheckpoint, WhereItCannotBeSavedTheSweepGoesOnAndSaysSo) {
    struct Listener : Progress {
        std::vector<std::string> messages;
        void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
        bool cancelled() override { return false; }
        void message(std::string_view text) override { messages.emplace_back(text); }
    } listener;
    TemporaryFolder folder;
    Context context;
    context.progress = &listener;
    context.checkpoint = folder / "absent" / "checkpoint.npz";
    context.checkpoint_seconds = 0.0;
    Sums sums;
    AdditiveCheckpoint saved(context, "sums", "problem", 4);
    saved.add("sums", sums.sums);
    saved.resume();
    const auto tiles = make_tiles(4);
    sweep(context, "sums", tiles, saved,
          [&](const Tile& tile, View<float, 2>) { sums.take(tile); });
    saved.total();
    EXPECT_EQ(sums.bits(), expected(tiles));
    ASSERT_EQ(listener.messages.size(), 1u);
    EXPECT_EQ(listener.messages[0].find("sums: goes on without saving its state: "), 0u);
    EXPECT_TRUE(saved.resume_file().empty());
}

TEST(AdditiveCheckpoint, WhatIsDoneBeforeASaveIsDueIsNotSaved) {
    const auto tiles = make_tiles(5);
    for (const double seconds : {1000.0, 0.0}) {
        TemporaryFolder folder;
        Job job{.checkpoint = folder / "sums.npz", .save_seconds = seconds};
        expect_on_ranks(1, job, tiles);
        EXPECT_EQ(rank_files(job.checkpoint).empty(), seconds > 0);
    }
}

TEST(AdditiveCheckpoint, ATileIsAddedOnce) {
    Sums sums;
    AdditiveCheckpoint saved({}, "sums", "problem", 2);
    saved.add("sums", sums.sums);
    saved.resume();
    const auto tiles = make_tiles(2);
    const auto compute = [&](const Tile& tile, View<float, 2>) { sums.take(tile); };
    sweep({}, "sums", tiles, saved, compute);
    EXPECT_THROW(sweep({}, "sums", tiles, saved, compute), std::logic_error);
}

TEST(AdditiveCheckpoint, ZerosOfUnlikeSignsGiveOneZero) {
    on_ranks(2, [&](Comm& comm) {
        Context context;
        context.comm = &comm;
        std::vector<double> maxima = {comm.rank() == 0 ? -0.0 : 0.0, -0.0};
        AdditiveCheckpoint saved(context, "maxima", "problem", 0);
        saved.raise("maxima", maxima);
        saved.resume();
        saved.total();
        EXPECT_FALSE(std::signbit(maxima[0]));
        EXPECT_FALSE(std::signbit(maxima[1]));
    });
}

TEST(RankFiles, AreFoundByTheirNamesAlone) {
    TemporaryFolder folder;
    const std::filesystem::path checkpoint = folder / "checkpoint.npz";
    EXPECT_TRUE(rank_files(checkpoint).empty());
    EXPECT_TRUE(rank_files(folder / "absent" / "checkpoint.npz").empty());
    EXPECT_EQ(rank_file(checkpoint, 12), folder / "checkpoint.rank12.npz");
    for (const char* name :
         {"checkpoint.rank0.npz", "checkpoint.rank12.npz", "checkpoint.npz", "checkpoint.rank.npz",
          "checkpoint.rank1a.npz", "checkpoint.rank1.npz.part", "other.rank1.npz"})
        spill(folder / name, "x");
    EXPECT_EQ(rank_files(checkpoint),
              (std::vector<std::filesystem::path>{folder / "checkpoint.rank0.npz",
                                                  folder / "checkpoint.rank12.npz"}));
    EXPECT_EQ(rank_files(checkpoint, ".part"),
              std::vector<std::filesystem::path>{folder / "checkpoint.rank1.npz.part"});
}

}  // namespace
}  // namespace pleat
