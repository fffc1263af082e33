// Tests of the loops over blocks, frames and tiles: what they call, report, and do when stopped.
#include "pleat/core/loops/steps.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/error.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/core/ranks/gather_rows.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/core/tests/thread_comm.h"

namespace pleat {
namespace {

using test::error_text;
using test::on_ranks;

/// Records each report, and asks to stop from the report of `stop_at` finished units on.
struct Recorder : Progress {
    struct Report {
        std::string stage, note;
        std::int64_t done, total;
        bool operator==(const Report&) const = default;
    };
    std::vector<Report> reports;
    std::int64_t stop_at = -1;
    bool is_stopped = false;
    void update(std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view note) override {
        reports.push_back({std::string(stage), std::string(note), done, total});
        is_stopped |= done == stop_at;
    }
    bool cancelled() override { return is_stopped; }
    void message(std::string_view) override {}
};

using Blocks = std::vector<std::pair<Index, Index>>;

Blocks blocks_of(const Context& context, Index total, Index block) {
    Blocks blocks;
    for_each_block(
        context, "read", total, block,
        [&](Index first, Index count) { blocks.emplace_back(first, count); }, "frames");
    return blocks;
}

TEST(ForEachBlock, CoversTheRangeInOrderAndReportsEachBlock) {
    Recorder recorder;
    Context context;
    context.progress = &recorder;
    EXPECT_EQ(blocks_of(context, 8, 3), (Blocks{{0, 3}, {3, 3}, {6, 2}}));
    EXPECT_EQ(recorder.reports,
              (std::vector<Recorder::Report>{
                  {"read", "frames", 3, 8}, {"read", "frames", 6, 8}, {"read", "frames", 8, 8}}));
    EXPECT_EQ(blocks_of({}, 6, 3), (Blocks{{0, 3}, {3, 3}}));
    EXPECT_EQ(blocks_of({}, 2, 100), (Blocks{{0, 2}}));
    EXPECT_EQ(blocks_of({}, 0, 3), Blocks{});
}

TEST(ForEachBlock, StopsAfterTheBlockInWhichItWasCancelled) {
    Recorder recorder;
    recorder.stop_at = 6;
    Context context;
    context.progress = &recorder;
    EXPECT_EQ(error_text<Cancelled>([&] { blocks_of(context, 8, 3); }),
              "read: stopped; nothing of it was kept");
    EXPECT_EQ(recorder.reports.size(), 2u);
    // A cancel that was asked for earlier stops the stage before its first block.
    recorder.reports.clear();
    error_text<Cancelled>([&] { blocks_of(context, 8, 3); });
    EXPECT_TRUE(recorder.reports.empty());
}

// Another stage has saved something before.
TEST(ForEachBlock, SaysThatTheSameCommandGoesOnFromACheckpoint) {
    const test::TemporaryFolder folder;
    Recorder recorder;
    recorder.stop_at = 3;
    Context context;
    context.progress = &recorder;
    context.checkpoint = folder.path() / "checkpoint";
    EXPECT_EQ(error_text<Cancelled>([&] { blocks_of(context, 8, 3); }),
              "read: stopped; nothing of it was kept");
    std::ofstream(context.checkpoint) << "tiles";
    EXPECT_EQ(error_text<Cancelled>([&] { blocks_of(context, 8, 3); }),
              "read: stopped; nothing of it was kept; the same command goes on from what was saved "
              "before it");
}

TEST(ForEachBlock, FinishesWhenCancelledAfterTheLastBlock) {
    Recorder recorder;
    recorder.stop_at = 8;
    Context context;
    context.progress = &recorder;
    EXPECT_EQ(blocks_of(context, 8, 3).size(), 3u);
}

TEST(ForEachBlock, PassesErrorsOn) {
    Index calls = 0;
    EXPECT_THROW(for_each_block({}, "read", 9, 2,
                                [&](Index, Index) {
                                    if (++calls == 3) throw DeviceError("lost");
                                }),
                 DeviceError);
    EXPECT_EQ(calls, 3);
}

TEST(ForEachFrame, CallsEachFrameOnce) {
    Recorder recorder;
    Context context;
    context.progress = &recorder;
    std::vector<Index> frames;
    for_each_frame(context, "read", 4, [&](Index frame) { frames.push_back(frame); });
    EXPECT_EQ(frames, (std::vector<Index>{0, 1, 2, 3}));
    ASSERT_EQ(recorder.reports.size(), 4u);
    EXPECT_EQ(recorder.reports[1], (Recorder::Report{"read", "frames", 2, 4}));
    recorder.stop_at = 2;
    frames.clear();
    EXPECT_THROW(for_each_frame(context, "read", 4, [&](Index frame) { frames.push_back(frame); }),
                 Cancelled);
    EXPECT_EQ(frames, (std::vector<Index>{0, 1}));
}

TEST(StageProgress, ReportsNotesAndSaysWhatIsKept) {
    Recorder recorder;
    recorder.stop_at = 2;
    Context context;
    context.progress = &recorder;
    StageProgress progress(context, "fit", 3, "curves", "the first curves were kept");
    progress.advance_to(1);
    EXPECT_EQ(error_text<Cancelled>([&] { progress.advance_to(2, "almost"); }),
              "fit: stopped; the first curves were kept");
    EXPECT_EQ(recorder.reports[0], (Recorder::Report{"fit", "curves", 1, 3}));
    EXPECT_EQ(recorder.reports[1], (Recorder::Report{"fit", "almost", 2, 3}));
    EXPECT_THROW(progress.check(), Cancelled);
    progress.advance_to(3);  // all is done: nothing to stop
}

TEST(ThrowIfCancelled, DoesNothingWithoutProgress) {
    throw_if_cancelled({}, "fit");
    Recorder recorder;
    Context context;
    context.progress = &recorder;
    throw_if_cancelled(context, "fit");
    recorder.is_stopped = true;
    EXPECT_EQ(error_text<Cancelled>([&] { throw_if_cancelled(context, "fit", "all was kept"); }),
              "fit: stopped; all was kept");
}

std::vector<Tile> tiles_of(const std::vector<Index>& items) {
    std::vector<Tile> tiles;
    tiles.reserve(items.size());
    for (const Index count : items)
        tiles.push_back({.id = static_cast<Index>(tiles.size()), .items = count});
    return tiles;
}

TEST(ForEachTile, ComputesMissingTilesInOrderAndFlushesOnce) {
    const auto tiles = tiles_of({1, 5, 2, 9, 1});
    Recorder recorder;
    Context context;
    context.progress = &recorder;
    std::vector<Index> computed;
    int flushes = 0;
    for_each_tile(context, "tiles", tiles,
                  {.compute = [&](const Tile& tile) { computed.push_back(tile.id); },
                   .is_done = [](const Tile& tile) { return tile.id == 1; },
                   .flush = [&] { ++flushes; }});
    EXPECT_EQ(computed, (std::vector<Index>{0, 2, 3, 4}));
    EXPECT_EQ(flushes, 1);
    ASSERT_EQ(recorder.reports.size(), 5u);
    EXPECT_EQ(recorder.reports[0], (Recorder::Report{"tiles", "resumed", 1, 5}));
    EXPECT_EQ(recorder.reports[4], (Recorder::Report{"tiles", "", 5, 5}));
    // Without is_done and flush every tile is computed.
    computed.clear();
    for_each_tile({}, "tiles", tiles,
                  {.compute = [&](const Tile& tile) { computed.push_back(tile.id); }});
    EXPECT_EQ(computed.size(), tiles.size());
}

TEST(ForEachTile, SaysWhatIsKeptWhenCancelled) {
    const auto tiles = tiles_of({1, 1, 1, 1});
    for (const bool has_file : {false, true}) {
        Recorder recorder;
        recorder.stop_at = 2;
        Context context;
        context.progress = &recorder;
        int flushes = 0;
        const std::string text = error_text<Cancelled>([&] {
            for_each_tile(context, "tiles", tiles,
                          {.compute = [](const Tile&) {},
                           .flush = [&] { ++flushes; },
                           .resume_file = [&] { return has_file ? "a.tiles" : ""; }});
        });
        EXPECT_EQ(flushes, 1);
        EXPECT_EQ(text.substr(0, 35), "tiles: stopped after 2 of 4 tiles; ");
        EXPECT_EQ(text.find("a.tiles") != std::string::npos, has_file) << text;
    }
}

TEST(ForEachTile, DoesNotCountATileThatWasCancelledInside) {
    const auto tiles = tiles_of({1, 1, 1});
    std::set<Index> kept;
    const std::string text = error_text<Cancelled>([&] {
        for_each_tile({}, "tiles", tiles, {.compute = [&](const Tile& tile) {
                          if (tile.id == 1) throw Cancelled("inside");
                          kept.insert(tile.id);
                      }});
    });
    EXPECT_EQ(text.substr(0, 35), "tiles: stopped after 1 of 3 tiles; ");
    EXPECT_EQ(kept, (std::set<Index>{0}));
}

TEST(ForEachTile, ReportsTheErrorOfATileAlsoIfFlushingFails) {
    const auto tiles = tiles_of({1, 1});
    EXPECT_EQ(error_text<DeviceError>([&] {
                  for_each_tile({}, "tiles", tiles,
                                {.compute = [](const Tile&) { throw DeviceError("lost"); },
                                 .flush = [] { throw OutputError("full"); }});
              }),
              "lost");
    EXPECT_EQ(error_text<OutputError>([&] {
                  for_each_tile(
                      {}, "tiles", tiles,
                      {.compute = [](const Tile&) {}, .flush = [] { throw OutputError("full"); }});
              }),
              "full");
}

// In each round a rank gets the most expensive tile that is left, or several that cost no more.
TEST(ForEachTile, RanksShareTheTilesInRoundsOfAboutEqualCost) {
    auto tiles = tiles_of({1, 7, 3, 9, 5});
    using Shares = std::vector<std::vector<Index>>;
    const std::pair<int, Shares> cases[] = {
        {2, {{9, 5}, {7, 1, 3}}}, {3, {{9}, {7, 1}, {5, 3}}}, {6, {{9}, {7}, {5}, {3}, {1}, {}}}};
    for (const bool has_costs : {false, true}) {
        if (has_costs)
            for (Tile& tile : tiles) {
                tile.cost = tile.items;
                tile.values = 100 - 10 * tile.items;  // costs alone count
            }
        for (const auto& [size, expected] : cases) {
            Shares computed(static_cast<std::size_t>(size));
            on_ranks(size, [&](Comm& comm) {
                Context context;
                context.comm = &comm;
                auto& own = computed[static_cast<std::size_t>(comm.rank())];
                for_each_tile(context, "tiles", tiles,
                              {.compute = [&](const Tile& tile) { own.push_back(tile.items); }});
            });
            EXPECT_EQ(computed, expected) << size << " ranks";
        }
    }
}

// Quadratic time would be minutes.
TEST(ForEachTile, TakesManyTiles) {
    const auto tiles = tiles_of(std::vector<Index>(1000000, 1));
    std::atomic<Index> computed = 0;
    for_each_tile(Context{}, "tiles", tiles, {.compute = [&](const Tile&) { ++computed; }});
    EXPECT_EQ(computed, 1000000);
}

TEST(ForEachTile, AFailureOfOneRankStopsAll) {
    const auto tiles = tiles_of({1, 1, 1, 1, 1, 1});
    std::atomic<int> own_errors = 0, other_errors = 0, flushes = 0, computed = 0;
    on_ranks(3, [&](Comm& comm) {
        Context context;
        context.comm = &comm;
        try {
            for_each_tile(context, "tiles", tiles,
                          {.compute =
                               [&](const Tile& tile) {
                                   if (tile.id == 2) throw InputError("expected 1, found 2");
                                   ++computed;
                               },
                           .flush = [&] { ++flushes; }});
        } catch (const InputError&) {
            ++own_errors;
        } catch (const OtherRankFailed&) {
            ++other_errors;
        }
    });
    EXPECT_EQ(own_errors, 1);
    EXPECT_EQ(other_errors, 2);
    EXPECT_EQ(flushes, 3);
    EXPECT_EQ(computed, 2);  // the other two tiles of the first round
}

TEST(Together, ThrowsTheOwnErrorHereAndItsNewsElsewhere) {
    std::atomic<int> own_errors = 0, other_errors = 0, calm = 0;
    on_ranks(3, [&](Comm& comm) {
        Context context;
        context.comm = &comm;
        together(context, [] {});
        ++calm;
        try {
            together(context, [&] {
                if (comm.rank() == 1) throw DeviceError("lost");
            });
        } catch (const DeviceError&) {
            ++own_errors;
        } catch (const OtherRankFailed&) {
            ++other_errors;
        }
        EXPECT_EQ(max_over_ranks(context, comm.rank() * 2.0), 4.0);
    });
    EXPECT_EQ(calm, 3);
    EXPECT_EQ(own_errors, 1);
    EXPECT_EQ(other_errors, 2);
    EXPECT_EQ(max_over_ranks({}, -3.0), -3.0);
}

TEST(RankRows, EveryRowBelongsToOneRank) {
    for (const int size : {1, 2, 5}) {
        for (const Index count : {0, 1, 4, 5, 11}) {
            std::vector<std::atomic<int>> owners(static_cast<std::size_t>(count));
            on_ranks(size, [&](Comm& comm) {
                Context context;
                context.comm = &comm;
                const RankRows rows(context);
                for (Index n = 0; n < rows.count_of(count); ++n)
                    ++owners[static_cast<std::size_t>(rows.row(n))];
                EXPECT_GE(rows.row(rows.count_of(count)), count);
            });
            for (const auto& number : owners) EXPECT_EQ(number, 1);
        }
    }
}

TEST(AllGatherRows, GivesEveryRankAllRows) {
    for (const int size : {1, 2, 3, 7}) {
        for (const Index count : {0, 1, 2, 5, 9}) {
            on_ranks(size, [&](Comm& comm) {
                Context context;
                context.comm = &comm;
                const RankRows own(context);
                Array<double, 2> rows(count, 3);
                for (Index n = 0; n < own.count_of(count); ++n)
                    for (Index v = 0; v < 3; ++v)
                        rows(own.row(n), v) = static_cast<double>(100 * own.row(n) + v);
                all_gather_rows(context, rows.view());
                for (Index row = 0; row < count; ++row)
                    for (Index v = 0; v < 3; ++v)
                        EXPECT_EQ(rows(row, v), static_cast<double>(100 * row + v));
            });
        }
    }
}

}  // namespace
}  // namespace pleat
