// GROMOS clustering on the GPU, run thread by thread on the host, against its definition.
#include "gpu_on_host.h"  // before all that it imitates

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/rmsd/tests/every_kernel.h"
#include "pleat/rmsd/tests/gpu_truth.h"

namespace pleat::rmsd {
namespace {

using test::gromos_by_definition;
using test::GromosOnHost;
using test::HostGpuState;
using test::PeerOnHost;
using test::several_states;

struct Stopping final : Progress {
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
    bool cancelled() override { return true; }
    void message(std::string_view) override {}
};

TEST(GpuGromos, ClustersByTheDefinition) {
    struct Case {
        Index frames, atoms, states;
        float cutoff;
    };
    for (const Case& c :
         {Case{1, 10, 1, 1.0f}, Case{2, 10, 1, 5.0f}, Case{33, 3, 2, 0.3f}, Case{140, 12, 9, 0.6f},
          Case{70, 12, 3, 0.01f}, Case{70, 12, 3, 100.0f}, Case{1060, 12, 40, 0.55f}}) {
        SCOPED_TRACE(std::to_string(c.frames) + " frames, cutoff " + std::to_string(c.cutoff));
        const Frames frames = centre(several_states(c.frames, c.atoms, c.states, 11), {}, 1);
        const auto rmsd = test::cpu_pairs(frames, FitPrecision::float64);
        const DeviceClusters expected = gromos_by_definition(rmsd, c.frames, c.cutoff);
        HostGpuState state;
        GromosOnHost gromos(*memory_source(borrowed(frames)), 1, PeerOnHost(state));
        gromos.find_neighbours(c.cutoff, {});
        const std::vector<int> counts = gromos.neighbour_counts();
        std::size_t pair = 0;
        std::vector<int> truth(counts.size());
        for (Index i = 0; i < c.frames; ++i)
            for (Index j = i + 1; j < c.frames; ++j, ++pair)
                if (rmsd[pair] < c.cutoff) ++truth[i], ++truth[j];
        EXPECT_EQ(counts, truth);
        const DeviceClusters found = cluster_together(gromos, {});
        EXPECT_EQ(found.assignment, expected.assignment);
        EXPECT_EQ(found.centres, expected.centres);
    }
}

/// The parts of `count` GPUs, which found their neighbours one after the other.
struct PartsOnHost {
    PartsOnHost(const Frames& frames, float cutoff, int count)
        : states(static_cast<std::size_t>(count)) {
        for (int part = 0; part < count; ++part) {
            all.push_back(std::make_unique<GromosOnHost>(*memory_source(borrowed(frames)), 1,
                                                         PeerOnHost(states[part]),
                                                         BitShare{part, count}));
            all.back()->find_neighbours(cutoff, {});
        }
    }

    std::vector<HostGpuState> states;
    std::vector<std::unique_ptr<GromosOnHost>> all;
};

TEST(GpuGromos, SeveralGpusFindTheClustersOfOne) {
    struct Case {
        Index frames, atoms, states;
        float cutoff;
        int parts;
    };
    for (const Case& c : {Case{1, 10, 1, 1.0f, 2}, Case{70, 12, 3, 0.01f, 2},
                          Case{200, 12, 9, 0.6f, 2}, Case{300, 12, 90, 0.5f, 3}}) {
        SCOPED_TRACE(std::to_string(c.frames) + " frames, cutoff " + std::to_string(c.cutoff) +
                     ", parts " + std::to_string(c.parts));
        const Frames frames = centre(several_states(c.frames, c.atoms, c.states, 11), {}, 1);
        const auto rmsd = test::cpu_pairs(frames, FitPrecision::float64);
        const DeviceClusters expected = gromos_by_definition(rmsd, c.frames, c.cutoff);
        PartsOnHost parts(frames, c.cutoff, c.parts);
        // Each lane has its thread; kernels run in that of the first alone.
        Context context;
        context.lanes.assign(static_cast<std::size_t>(c.parts), Device{});
        std::vector<DeviceClusters> found(parts.all.size());
        on_lanes(context, [&](const Context& lane) {
            const auto own = static_cast<std::size_t>(lane.rank());
            found[own] = cluster_together(*parts.all[own], lane);
        });
        for (const DeviceClusters& one : found) {
            EXPECT_EQ(one.assignment, expected.assignment);
            EXPECT_EQ(one.centres, expected.centres);
        }
        for (std::size_t part = 0; part < parts.all.size(); ++part) {
            const auto& launches = parts.states[part].launches;
            EXPECT_EQ(launches.contains("find the largest cluster"), part == 0);
            EXPECT_TRUE(launches.contains("subtract a cluster"));
            EXPECT_EQ(launches.contains("superpose frames"),
                      static_cast<Index>(part) * kTileRows < c.frames);
        }
    }
}

TEST(GpuGromos, SeveralGpusCountEachPairOnce) {
    const Frames frames = centre(several_states(333, 12, 9, 14), {}, 1);
    const auto counts_of = [&](int count) {
        std::vector<int> sums(333);
        for (const auto& part : PartsOnHost(frames, 0.6f, count).all) {
            const std::vector<int> counts = part->neighbour_counts();
            EXPECT_GT(std::count_if(counts.begin(), counts.end(), [](int n) { return n > 0; }), 0);
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += counts[i];
        }
        return sums;
    };
    EXPECT_EQ(counts_of(2), counts_of(1));
    EXPECT_EQ(counts_of(4), counts_of(1));
}

TEST(GpuGromos, DealsAllRowsEvenlyWithinTheEstimatedMemory) {
    for (const Index frames : {1, 32, 64, 65, 1000, 20000, 1000000, 2000000}) {
        for (const int parts : {1, 2, 3, 8}) {
            SCOPED_TRACE(std::to_string(frames) + " frames, parts " + std::to_string(parts));
            std::vector<Index> squares(static_cast<std::size_t>(parts));
            Index next = 0;
            for (const BitBand& band : divide_bit_rows(frames, parts)) {
                ASSERT_EQ(band.rows.first, next);
                ASSERT_EQ(band.rows.first % kTileRows, 0);
                squares[band.part] += squares_of(band.rows, frames);
                next += band.rows.count;
            }
            EXPECT_EQ(next, frames);
            const Index side = bit_side(frames), all = side * (side + 1) / 2;
            EXPECT_EQ(std::accumulate(squares.begin(), squares.end(), Index{0}), all);
            const auto [min, max] = std::minmax_element(squares.begin(), squares.end());
            EXPECT_LE(*max * kBitSide * 4, bit_memory(frames, parts));
            if (frames < 1000000) continue;
            EXPECT_LT(static_cast<double>(*max), 1.005 * static_cast<double>(*min));
        }
    }
    // The bits of 2 million frames fit two H200 of 139 GiB, not one.
    EXPECT_GT(bit_memory(2000000), std::int64_t{230} << 30);
    EXPECT_LT(bit_memory(2000000, 2), std::int64_t{117} << 30);
}

TEST(GpuGromos, StopsWhenAsked) {
    const Frames frames = centre(several_states(40, 10, 3, 12), {}, 1);
    HostGpuState state;
    GromosOnHost gromos(*memory_source(borrowed(frames)), 1, PeerOnHost(state));
    Stopping progress;
    Context context;
    context.progress = &progress;
    EXPECT_THROW(gromos.find_neighbours(1.0, context), Cancelled);
}

TEST(GpuGromos, AStopOrAnErrorOfOneGpuEndsAll) {
    const Frames frames = centre(several_states(130, 10, 90, 12), {}, 1);
    for (const int failing : {0, 1}) {  // the first one as it clusters
        PartsOnHost parts(frames, 0.3f, 3);
        Stopping progress;
        Context context;
        context.lanes.assign(3, Device{});
        if (failing == 0) context.progress = &progress;
        std::vector<int> has_ended(3);
        const auto work = [&](const Context& lane) {
            const auto own = static_cast<std::size_t>(lane.rank());
            if (failing > 0 && lane.rank() == failing) throw DeviceError("lost");
            cluster_together(*parts.all[own], lane);
            has_ended[own] = 1;
        };
        if (failing == 0) {
            EXPECT_THROW(on_lanes(context, work), Cancelled);
        } else {
            EXPECT_THROW(on_lanes(context, work), DeviceError);
        }
        EXPECT_EQ(has_ended, std::vector<int>(3));
    }
}

TEST(GpuGromos, RefusesNeighboursWithoutMemory) {
    const Frames frames = centre(several_states(400, 2, 3, 13), {}, 1);
    HostGpuState state;
    state.total_bytes = cuda::kReserve + tile_memory(400, 2, TileFormat::half) + 1000;
    try {
        const GromosOnHost gromos(*memory_source(borrowed(frames)), 1, PeerOnHost(state));
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_NE(std::string(error.what()).find("neighbours of 400 frames"), std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace pleat::rmsd
