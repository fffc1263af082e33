// Tests of lanes: a Comm of threads gives what one of processes gives, and errors end all lanes.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/hardware/device_choice.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/core/ranks/deal.h"
#include "pleat/core/ranks/lanes.h"

namespace pleat {
namespace {

Context with_lanes(int count) {
    Context context;
    context.lanes.assign(static_cast<std::size_t>(count), Device{Device::Kind::cpu, 0});
    context.threads = 4;
    return context;
}

/// Checks on each lane what every collective call gives, `lanes` on each of this process's ranks.
void check_collective_calls(const Context& lane, int size) {
    Comm& comm = *lane.comm;
    ASSERT_EQ(comm.size(), size);
    const int rank = comm.rank();
    comm.barrier();
    EXPECT_EQ(comm.any(rank == size - 1), true);
    EXPECT_EQ(comm.any(false), false);
    double expected = 0;
    for (int n = 0; n < size; ++n) expected += 0.1 * (n + 1);
    EXPECT_EQ(comm.sum(0.1 * (rank + 1)), expected);
    std::vector<std::int64_t> sums{rank, 1};
    comm.sum(sums);
    EXPECT_EQ(sums, (std::vector<std::int64_t>{size * (size - 1) / 2, size}));
    std::vector<std::uint32_t> small{1u << rank};
    comm.sum(small);
    EXPECT_EQ(small[0], (1u << size) - 1);
    std::vector<double> largest{static_cast<double>(-rank), static_cast<double>(rank)};
    comm.raise(largest);
    EXPECT_EQ(largest, (std::vector<double>{0, static_cast<double>(size - 1)}));
    for (int root = 0; root < size; ++root) {
        const auto own = static_cast<std::uint8_t>(rank + 1);
        std::vector<std::uint8_t> bytes(own, own);
        comm.broadcast(bytes, root);
        const auto from = static_cast<std::uint8_t>(root + 1);
        EXPECT_EQ(bytes, std::vector<std::uint8_t>(from, from));
        const std::vector<std::uint8_t> mine(own, own);
        const auto all = comm.gather(mine, root);
        if (rank != root) {
            EXPECT_TRUE(all.empty());
            continue;
        }
        ASSERT_EQ(static_cast<int>(all.size()), size);
        for (std::size_t n = 0; n < all.size(); ++n) EXPECT_EQ(all[n].size(), n + 1);
    }
}

TEST(Lanes, AreRanksOfOneProcess) {
    for (const int count : {1, 2, 3, 5})
        on_lanes(with_lanes(count), [&](const Context& lane) {
            EXPECT_EQ(lane.threads, std::max(1, 4 / count));
            EXPECT_TRUE(lane.lanes.empty());
            check_collective_calls(lane, count);
        });
}

// Lanes within lanes stand for processes that have lanes each, here different numbers of them.
TEST(Lanes, OfSeveralProcessesAreOneGroup) {
    on_lanes(with_lanes(3), [](const Context& process) {
        Context inner = process;
        inner.lanes.assign(static_cast<std::size_t>(process.rank()) + 1, process.device);
        on_lanes(inner, [&](const Context& lane) {
            const int first = process.rank() * (process.rank() + 1) / 2;
            EXPECT_GE(lane.rank(), first);
            EXPECT_LE(lane.rank(), first + process.rank());
            check_collective_calls(lane, 1 + 2 + 3);
        });
    });
}

TEST(Lanes, SeeEachOthersObjects) {
    on_lanes(with_lanes(3), [](const Context& lane) {
        EXPECT_TRUE(are_one_process(lane));
        int own = 10 * lane.rank();
        const std::vector<int*> all = objects_of_lanes(lane, own);
        ASSERT_EQ(all.size(), 3U);
        EXPECT_EQ(all[static_cast<std::size_t>(lane.rank())], &own);
        for (int rank = 0; rank < 3; ++rank)
            EXPECT_EQ(*all[static_cast<std::size_t>(rank)], 10 * rank);
        wait_for_ranks(lane);
    });
    int own = 7;
    EXPECT_TRUE(are_one_process({}));
    EXPECT_EQ(objects_of_lanes({}, own), std::vector{&own});
}

TEST(Lanes, AreToldFromRanksOfOtherProcesses) {
    /// The other rank has drawn a larger number, or a smaller one.
    struct OtherProcess : Comm {
        explicit OtherProcess(std::size_t number) : raised(number) {}
        int size() const override { return 2; }
        void raise(std::span<double> values) override { values[raised] += 1; }
        std::size_t raised;
    };
    for (const std::size_t raised : {0, 1}) {
        OtherProcess other(raised);
        Context context;
        context.comm = &other;
        EXPECT_FALSE(are_one_process(context));
    }
}

TEST(Lanes, WithoutAListTheContextItselfIsUsed) {
    Context context;
    on_lanes(context, [&](const Context& lane) { EXPECT_EQ(&lane, &context); });
    EXPECT_EQ(first_of_lanes(context, [](const Context& lane) { return lane.ranks(); }), 1);
}

TEST(Lanes, TheFirstOneGivesTheResult) {
    const int rank = first_of_lanes(with_lanes(4), [](const Context& lane) { return lane.rank(); });
    EXPECT_EQ(rank, 0);
}

TEST(Lanes, MakePiecesInTurn) {
    for (const int count : {1, 2, 3, 5})
        for (const int pieces : {0, 1, 4, 6, 7}) {
            std::vector<std::uint8_t> collected;
            on_lanes(with_lanes(count), [&](const Context& lane) {
                int made = 0;
                collect_rounds(
                    *lane.comm,
                    [&](int rank) {
                        const int piece = made + rank;
                        made += lane.ranks();
                        RoundPiece own{{}, made < pieces};
                        if (piece < pieces) own.bytes = {static_cast<std::uint8_t>(piece)};
                        return own;
                    },
                    [&](const std::vector<std::vector<std::uint8_t>>& round) {
                        EXPECT_EQ(lane.rank(), 0);
                        for (const std::vector<std::uint8_t>& one : round)
                            collected.insert(collected.end(), one.begin(), one.end());
                    });
            });
            std::vector<std::uint8_t> expected(static_cast<std::size_t>(pieces));
            std::iota(expected.begin(), expected.end(), std::uint8_t{0});
            EXPECT_EQ(collected, expected) << count << " lanes";
        }
    EXPECT_THROW(on_lanes(with_lanes(3),
                          [](const Context& lane) {
                              collect_rounds(
                                  *lane.comm,
                                  [](int) {
                                      return RoundPiece{{}, true};
                                  },
                                  [](const auto&) { throw InputError("broke"); });
                          }),
                 InputError);
}

TEST(Lanes, AnErrorOfOneEndsAllAndIsThrown) {
    for (const int failing : {0, 1, 2}) {
        std::atomic<int> stopped = 0;
        const auto work = [&](const Context& lane) {
            if (lane.rank() == failing) throw InputError("lane broke");
            try {
                for (;;) lane.comm->barrier();
            } catch (const OtherRankFailed&) {
                ++stopped;
                throw;
            }
        };
        EXPECT_THROW(on_lanes(with_lanes(3), work), InputError);
        EXPECT_EQ(stopped, 2);
    }
}

TEST(Lanes, ShareTheTilesOfALoopAndStopTogether) {
    std::vector<Tile> tiles(25);
    for (std::size_t n = 0; n < tiles.size(); ++n) tiles[n].id = static_cast<Index>(n);
    std::vector<std::atomic<int>> done(tiles.size());
    on_lanes(with_lanes(3), [&](const Context& lane) {
        for_each_tile(lane, "tiles", tiles, {.compute = [&](const Tile& tile) {
                          ++done[static_cast<std::size_t>(tile.id)];
                      }});
    });
    for (const auto& count : done) EXPECT_EQ(count, 1);

    struct Stopper : Progress {
        void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {
            ++updates;
        }
        bool cancelled() override { return updates > 2; }
        void message(std::string_view) override {}
        std::atomic<int> updates = 0;
    } stopper;
    Context context = with_lanes(3);
    context.progress = &stopper;
    EXPECT_THROW(on_lanes(context,
                          [&](const Context& lane) {
                              for_each_tile(lane, "tiles", tiles, {.compute = [](const Tile&) {}});
                          }),
                 Cancelled);
}

TEST(Lanes, WhatUsesOneDeviceRefusesSeveral) {
    EXPECT_NO_THROW(require_one_device(with_lanes(1), "a fit"));
    EXPECT_THROW(require_one_device(with_lanes(2), "a fit"), UsageError);
}

CudaDevice gpu(int index, bool usable = true) {
    CudaDevice one;
    one.index = index;
    one.usable = usable;
    one.total_bytes = one.free_bytes = 80;
    return one;
}

std::vector<Device> named(std::string_view text) {
    GpuLookup gpus;
    gpus.all = [] { return CudaDevices{{gpu(0), gpu(1, false), gpu(2)}, ""}; };
    Context context;
    name_devices(text, context, gpus);
    EXPECT_EQ(context.lanes.empty() || context.lanes.front() == context.device, true);
    return context.lanes.empty() ? std::vector<Device>{context.device} : context.lanes;
}

TEST(NameDevices, ReadsOneOrAList) {
    const Device zero{Device::Kind::cuda, 0}, two{Device::Kind::cuda, 2}, cpu;
    EXPECT_EQ(named("cpu"), std::vector{cpu});
    EXPECT_EQ(named("cuda"), std::vector{zero});
    EXPECT_EQ(named("cpu,cpu"), (std::vector{cpu, cpu}));
    EXPECT_EQ(named("cuda:0,2"), (std::vector{zero, two}));
    EXPECT_EQ(named("cuda:2,cuda:0"), (std::vector{two, zero}));
    EXPECT_EQ(named("cuda:all"), (std::vector{zero, two}));
    for (const char* wrong : {"", "cpu,", "cuda:0,", "cuda:,0", "cpu,1", "cuda:0,x", "gpu:all",
                              "cpu,cuda:0", "cuda:0,0", "cuda,cuda:0"})
        EXPECT_THROW(named(wrong), UsageError) << wrong;
}

TEST(NameDevices, AllOfNoGpusIsRefused) {
    GpuLookup gpus;
    gpus.all = [] { return CudaDevices{{}, "no NVIDIA driver"}; };
    Context context;
    EXPECT_THROW(name_devices("cuda:all", context, gpus), DeviceError);
}

TEST(AddGpus, TakesMoreWhileEachSavesItsStart) {
    GpuLookup gpus;
    std::vector<CudaDevice> found;
    found.reserve(8);
    for (int n = 0; n < 8; ++n) found.push_back(gpu(n));
    gpus.all = [&] { return CudaDevices{found, ""}; };
    gpus.count = [&] { return static_cast<int>(found.size()); };
    const auto lanes = [&](double seconds) {
        Context context;
        context.device = {Device::Kind::cuda, 0};
        add_gpus({10, seconds}, context, gpus);
        return context.lanes.size();
    };
    EXPECT_EQ(lanes(0), 0u);
    EXPECT_EQ(lanes(0.6), 0u);
    EXPECT_EQ(lanes(0.7), 2u);
    EXPECT_EQ(lanes(4), 4u);
    EXPECT_EQ(lanes(100), 8u);
    found[1].free_bytes = 71;  // another program uses a part
    found[2].usable = false;
    EXPECT_EQ(lanes(100), 6u);
    Context cpu;
    EXPECT_EQ(add_gpus({10, 100}, cpu, gpus), "");
    EXPECT_TRUE(cpu.lanes.empty());
}

}  // namespace
}  // namespace pleat
