// Tests of the tile loop and of tile files: resuming, kills, damage, ranks, errors.
#include "pleat/core/loops/sweep.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <map>
#include <random>

#include "pleat/core/error.h"
#include "pleat/core/loops/tile_file.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/core/tests/thread_comm.h"

namespace pleat {
namespace {

using test::error_text;
using test::on_ranks;
using test::slurp;
using test::spill;
using test::TemporaryFolder;

/// Tiles of a symmetric matrix of n rows, in blocks; three values an item.
std::vector<Tile> make_tiles(Index n, Index block) {
    std::vector<Tile> tiles;
    for (Index i = 0; i < n; i += block) {
        for (Index j = i; j < n; j += block) {
            const Index rows = std::min(block, n - i), columns = std::min(block, n - j);
            tiles.push_back({.id = static_cast<Index>(tiles.size()),
                             .side = {{i, rows}, {j, columns}, {}},
                             .items = rows * columns,
                             .values = 3});
        }
    }
    return tiles;
}

void compute(const Tile& tile, View<float, 2> output) {
    for (Index item = 0; item < tile.items; ++item) {
        const Index i = tile.side[0].first + item / tile.side[1].count;
        const Index j = tile.side[1].first + item % tile.side[1].count;
        for (Index v = 0; v < tile.values; ++v)
            output(item, v) += std::sin(static_cast<float>(i * 1000 + j * 10 + v));
    }
}

struct MemorySink : TileSink {
    std::map<Index, std::vector<float>> tiles;
    int flushes = 0;
    bool has(const Tile& tile) const override { return tiles.contains(tile.id); }
    void put(const Tile& tile, View<const float, 2> output) override {
        EXPECT_FALSE(has(tile));
        EXPECT_EQ(output.extent(0), tile.items);
        EXPECT_EQ(output.extent(1), tile.values);
        tiles[tile.id].assign(output.begin(), output.end());
    }
    void flush() override { ++flushes; }
};

struct Recorder : Progress {
    std::vector<std::int64_t> done;
    std::int64_t stop_after = -1;
    void update(std::string_view, std::int64_t n, std::int64_t, std::string_view) override {
        done.push_back(n);
    }
    bool cancelled() override { return !done.empty() && done.back() == stop_after; }
    void message(std::string_view) override {}
};

MemorySink whole(std::span<const Tile> tiles) {
    MemorySink sink;
    sweep({}, "tiles", tiles, sink, compute);
    return sink;
}

void expect_whole(const TileFile& file, std::span<const Tile> tiles) {
    EXPECT_TRUE(file.is_complete());
    MemorySink expected = whole(tiles);
    for (const Tile& tile : tiles) {
        const auto output = file.output(tile);
        EXPECT_EQ(std::vector<float>(output.begin(), output.end()), expected.tiles[tile.id]);
    }
}

TEST(Sweep, ComputesEachMissingTileOnceAndTellsOfEach) {
    const auto tiles = make_tiles(10, 3);
    MemorySink sink;
    sink.tiles[2] = {};
    sink.tiles[5] = {};
    Recorder recorder;
    Context context;
    context.progress = &recorder;
    sweep(context, "tiles", tiles, sink, compute);
    EXPECT_EQ(recorder.done, (std::vector<std::int64_t>{2, 3, 4, 5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(sink.tiles.size(), tiles.size());
    EXPECT_TRUE(sink.tiles[2].empty());
    const MemorySink expected = whole(tiles);
    EXPECT_EQ(sink.tiles[7], expected.tiles.at(7));
    EXPECT_EQ(sink.flushes, 1);
    sweep(context, "tiles", {}, sink, compute);
}

TEST(Sweep, OutputIsZeroedForEveryTile) {
    const auto tiles = make_tiles(8, 4);
    MemorySink sink = whole(tiles);
    // compute() adds: without zeroing, equal shapes would pile up.
    EXPECT_EQ(sink.tiles[2][0], std::sin(static_cast<float>(4 * 1000 + 4 * 10)));
}

TEST(Sweep, CancelKeepsWhatIsDoneAndResumesAnywhere) {
    const auto tiles = make_tiles(12, 3);
    const auto total = static_cast<std::int64_t>(tiles.size());
    for (std::int64_t stop = 1; stop <= total; ++stop) {
        TemporaryFolder folder;
        Recorder recorder;
        recorder.stop_after = stop;
        Context context;
        context.progress = &recorder;
        const auto run = [&] {
            TileFile file(folder / "a.tiles", "problem", tiles);
            sweep(context, "tiles", tiles, file, compute);
        };
        if (stop < total) {
            const std::string text = error_text<Cancelled>(run);
            EXPECT_NE(text.find("they are kept in " + (folder / "a.tiles").string()),
                      std::string::npos)
                << text;
            EXPECT_EQ(TileFile(folder / "a.tiles", "problem", tiles).done_count(), stop);
        }
        recorder.stop_after = -1;
        run();
        expect_whole(TileFile(folder / "a.tiles", "problem", tiles), tiles);
    }
}

TEST(Sweep, AKillInTheMiddleLosesNothingThatWasFlushed) {
    const auto tiles = make_tiles(20, 3);
    TemporaryFolder folder;
    {
        TileFile file(folder / "once.tiles", "problem", tiles);
        sweep({}, "tiles", tiles, file, compute);
    }
    for (const std::size_t kill_at : {0u, 1u, 9u, 27u}) {
        const std::filesystem::path path = folder / "killed.tiles";
        std::filesystem::remove(path);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            TileFile file(path, "problem", tiles);
            std::size_t computed = 0;
            sweep({}, "tiles", tiles, file, [&](const Tile& tile, View<float, 2> output) {
                compute(tile, output);
                if (computed++ == kill_at) ::_exit(0);
                if (computed % 4 == 0) file.flush();
            });
            ::_exit(1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_EQ(status, 0);
        {
            TileFile file(path, "problem", tiles);
            // flush() ran inside the compute of every fourth tile, which was not put yet.
            EXPECT_EQ(file.done_count(), kill_at < 4 ? 0 : static_cast<Index>(kill_at / 4 * 4 - 1));
            sweep({}, "tiles", tiles, file, compute);
        }
        EXPECT_EQ(slurp(path), slurp(folder / "once.tiles"));
    }
}

TEST(Sweep, AnErrorKeepsTheTilesBeforeIt) {
    const auto tiles = make_tiles(10, 3);
    TemporaryFolder folder;
    TileFile file(folder / "a.tiles", "problem", tiles);
    error_text<DeviceError>([&] {
        sweep({}, "tiles", tiles, file, [&](const Tile& tile, View<float, 2> output) {
            if (tile.id == 4) throw DeviceError("lost");
            compute(tile, output);
        });
    });
    // The first object still lives: only marks that are in the file count here.
    EXPECT_EQ(TileFile(folder / "a.tiles", "problem", tiles).done_count(), 4);
}

TEST(TileFile, RefusesOtherProblemsLayoutsAndKinds) {
    TemporaryFolder folder;
    const auto tiles = make_tiles(10, 3);
    const std::filesystem::path path = folder / "a.tiles";
    const auto open = [&](std::string_view problem, std::span<const Tile> layout) {
        return error_text<InputError>([&] { TileFile(path, problem, layout); });
    };
    { TileFile file(path, "problem", tiles); }
    EXPECT_NE(open("another", tiles)
                  .find("a.tiles: expected tiles of the same input and options, found another's"),
              std::string::npos);
    open("problem", make_tiles(10, 4));
    auto more_values = tiles;
    more_values[3].values = 2;
    open("problem", more_values);
    auto moved = tiles;
    moved[3].side[2] = {1, 1};
    open("problem", moved);
    spill(path, std::string(10'000, 'x'));
    EXPECT_NE(open("problem", tiles).find("found another kind; remove this file"),
              std::string::npos);
    EXPECT_EQ(slurp(path), std::string(10'000, 'x'));
    error_text<OutputError>([&] { TileFile(folder / "absent/a.tiles", "problem", tiles); });
    {
        TileFile none(folder / "none.tiles", "problem", {});
        EXPECT_TRUE(none.is_complete());
    }
    {
        TileFile none(folder / "none.tiles", "problem", {});
        EXPECT_TRUE(none.is_complete());
    }
}

TEST(TileFile, EveryTruncationAndEveryOddMarkIsAnError) {
    TemporaryFolder folder;
    const auto tiles = make_tiles(6, 3);
    const std::filesystem::path path = folder / "a.tiles";
    {
        TileFile file(path, "problem", tiles);
        sweep({}, "tiles", tiles, file, compute);
    }
    const std::string bytes = slurp(path);
    for (std::size_t n = 0; n < bytes.size(); ++n) {
        spill(path, bytes.substr(0, n));
        EXPECT_THROW(TileFile(path, "problem", tiles), InputError) << n;
    }
    spill(path, bytes + "x");
    EXPECT_THROW(TileFile(path, "problem", tiles), InputError);
    const std::size_t mark = bytes.find("tiles 3\n") + 8;
    ASSERT_EQ(bytes.substr(mark, 3), "\x01\x01\x01");
    std::string odd = bytes;
    odd[mark + 1] = 2;
    spill(path, odd);
    EXPECT_THROW(TileFile(path, "problem", tiles), InputError);
    odd[mark + 1] = 0;
    spill(path, odd);
    EXPECT_EQ(TileFile(path, "problem", tiles).done_count(), 2);
}

TEST(TileFile, AFullDiskIsAnErrorAndNotACrash) {
    TemporaryFolder folder;
    auto tiles = make_tiles(200, 100);
    const auto in_child = [&](auto action) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::signal(SIGXFSZ, SIG_IGN);
            const rlimit limit{300'000, 300'000};
            ::setrlimit(RLIMIT_FSIZE, &limit);
            try {
                action();
            } catch (const OutputError&) {
                ::_exit(0);
            } catch (...) {
                ::_exit(2);
            }
            ::_exit(1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return status;
    };
    EXPECT_EQ(in_child([&] { TileFile(folder / "a.tiles", "problem", tiles); }), 0);
    EXPECT_TRUE(folder.names().empty());
    { TileFile file(folder / "a.tiles", "problem", tiles); }
    EXPECT_EQ(in_child([&] {
                  TileFile file(folder / "a.tiles", "problem", tiles);
                  sweep({}, "tiles", tiles, file, compute);
              }),
              0);
    TileFile file(folder / "a.tiles", "problem", tiles);
    EXPECT_EQ(file.done_count(), 2);
    sweep({}, "tiles", tiles, file, compute);
    expect_whole(file, tiles);
}

TEST(TileFile, AskingForMoreThanTheDiskHoldsIsRefusedAtOnce) {
    TemporaryFolder folder;
    auto tiles = make_tiles(2, 2);
    tiles[0].items = Index{1} << 55;
    const std::string text =
        error_text<OutputError>([&] { TileFile(folder / "a.tiles", "problem", tiles); });
    EXPECT_NE(text.find("a.tiles: needs 384.0 PiB of disk, "), std::string::npos) << text;
    EXPECT_TRUE(folder.names().empty());
}

TEST(Sweep, RanksShareTheTilesAndGiveTheSameFile) {
    const auto tiles = make_tiles(14, 3);
    TemporaryFolder folder;
    {
        TileFile file(folder / "one.tiles", "problem", tiles);
        sweep({}, "tiles", tiles, file, compute);
    }
    for (const int size : {2, 3, 4}) {
        const std::filesystem::path path = folder / ("many" + std::to_string(size));
        { TileFile create(path, "problem", tiles); }
        std::atomic<int> computed = 0;
        on_ranks(size, [&](Comm& comm) {
            TileFile file(path, "problem", tiles);
            Context context;
            context.comm = &comm;
            sweep(context, "tiles", tiles, file, [&](const Tile& tile, View<float, 2> output) {
                ++computed;
                compute(tile, output);
            });
        });
        EXPECT_EQ(computed, static_cast<int>(tiles.size()));
        EXPECT_EQ(slurp(path), slurp(folder / "one.tiles"));
    }
}

TEST(Sweep, TheTilesOfARoundAreAlike) {
    std::vector<Tile> tiles;
    for (const Index items : {1, 1, 9, 1, 5, 5, 1, 9})
        tiles.push_back({.id = static_cast<Index>(tiles.size()), .items = items});
    std::vector<std::vector<Index>> sizes(2);
    on_ranks(2, [&](Comm& comm) {
        MemorySink sink;
        Context context;
        context.comm = &comm;
        sweep(context, "tiles", tiles, sink, [&](const Tile& tile, View<float, 2>) {
            sizes[static_cast<std::size_t>(comm.rank())].push_back(tile.items);
        });
    });
    EXPECT_EQ(sizes[0], (std::vector<Index>{9, 5, 1, 1}));
    EXPECT_EQ(sizes[1], sizes[0]);
}

TEST(Sweep, RanksStopTogether) {
    const auto tiles = make_tiles(14, 3);
    std::atomic<int> own_errors = 0, others = 0, cancels = 0;
    on_ranks(3, [&](Comm& comm) {
        MemorySink sink;
        Context context;
        context.comm = &comm;
        try {
            sweep(context, "tiles", tiles, sink, [&](const Tile& tile, View<float, 2> output) {
                if (tile.id == 7) throw DeviceError("lost");
                compute(tile, output);
            });
        } catch (const DeviceError&) {
            ++own_errors;
        } catch (const OtherRankFailed&) {
            ++others;
        }
        Recorder recorder;
        recorder.stop_after = comm.rank() == 1 ? 6 : -1;
        context.progress = &recorder;
        MemorySink second;
        try {
            sweep(context, "tiles", tiles, second, compute);
        } catch (const Cancelled&) {
            ++cancels;
        }
        EXPECT_EQ(second.tiles.size(), 2u);
    });
    EXPECT_EQ(own_errors, 1);
    EXPECT_EQ(others, 2);
    EXPECT_EQ(cancels, 3);
}

}  // namespace
}  // namespace pleat
