// GROMOS clustering on the GPU, run thread by thread on the host, against its definition.
#include "gpu_on_host.h"  // before all that it imitates

#include <gtest/gtest.h>

#include "pleat/core/error.h"
#include "pleat/rmsd/tests/every_kernel.h"
#include "pleat/rmsd/tests/gpu_truth.h"

namespace pleat::rmsd {
namespace {

using test::gromos_by_definition;
using test::GromosOnHost;
using test::HostGpu;
using test::HostGpuState;
using test::several_states;

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
        const auto rmsd = test::cpu_pairs(frames, Precision::float64);
        const DeviceClusters expected = gromos_by_definition(rmsd, c.frames, c.cutoff);
        for (const TileFormat format : {TileFormat::floats, TileFormat::halves, TileFormat::half}) {
            if (c.frames > 100 && format != TileFormat::half) continue;  // slow on the host
            HostGpuState state;
            GromosOnHost gromos(*memory_source(borrowed(frames)), format, 1, HostGpu(state));
            gromos.find_neighbours(c.cutoff, {});
            const std::vector<int> counts = gromos.neighbour_counts();
            std::size_t pair = 0;
            std::vector<int> truth(counts.size());
            for (Index i = 0; i < c.frames; ++i)
                for (Index j = i + 1; j < c.frames; ++j, ++pair)
                    if (rmsd[pair] < c.cutoff) ++truth[i], ++truth[j];
            EXPECT_EQ(counts, truth);
            const DeviceClusters found = gromos.cluster({});
            EXPECT_EQ(found.assignment, expected.assignment);
            EXPECT_EQ(found.centres, expected.centres);
        }
    }
}

struct Stopping final : Progress {
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
    bool cancelled() override { return true; }
    void message(std::string_view) override {}
};

TEST(GpuGromos, StopsWhenAsked) {
    const Frames frames = centre(several_states(40, 10, 3, 12), {}, 1);
    HostGpuState state;
    GromosOnHost gromos(*memory_source(borrowed(frames)), TileFormat::half, 1, HostGpu(state));
    Stopping progress;
    Context context;
    context.progress = &progress;
    EXPECT_THROW(gromos.find_neighbours(1.0, context), Cancelled);
}

TEST(GpuGromos, RefusesNeighboursWithoutMemory) {
    const Frames frames = centre(several_states(400, 2, 3, 13), {}, 1);
    HostGpuState state;
    state.total_bytes = cuda::kReserve + tile_memory(400, 2, TileFormat::half) + 1000;
    try {
        GromosOnHost gromos(*memory_source(borrowed(frames)), TileFormat::half, 1, HostGpu(state));
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_NE(std::string(error.what()).find("neighbours of 400 frames"), std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace pleat::rmsd
