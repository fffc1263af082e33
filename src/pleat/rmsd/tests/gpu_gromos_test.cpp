// GROMOS clustering on the GPU, run thread by thread on the host, against its definition.
#include "gpu_on_host.h"  // before all that it imitates

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
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

/// Each frame's neighbours by all distances.
std::vector<std::int32_t> neighbours_of(const std::vector<float>& rmsd, Index frames,
                                        float cutoff) {
    std::vector<std::int32_t> counts(static_cast<std::size_t>(frames));
    std::size_t pair = 0;
    for (Index i = 0; i < frames; ++i)
        for (Index j = i + 1; j < frames; ++j, ++pair)
            if (rmsd[pair] < cutoff) ++counts[i], ++counts[j];
    return counts;
}

struct Truth {
    Truth(const Frames& frames, float cutoff)
        : rmsd(test::cpu_pairs(frames, FitPrecision::float64)),
          neighbours(neighbours_of(rmsd, frames.frame_count(), cutoff)),
          clusters(gromos_by_definition(rmsd, frames.frame_count(), cutoff)) {}

    std::vector<float> rmsd;
    std::vector<std::int32_t> neighbours;
    DeviceClusters clusters;
};

void expect_clusters(const DeviceClusters& found, const DeviceClusters& expected) {
    EXPECT_EQ(found.assignment, expected.assignment);
    EXPECT_EQ(found.centres, expected.centres);
}

DeviceClusters cluster_alone(const Frames& frames, const GromosProblem& problem,
                             HostGpuState& state, const Context& context = {}) {
    GromosOnHost gromos(*memory_source(borrowed(frames)), 1, PeerOnHost(state));
    return cluster_together(gromos, problem, context);
}

TEST(GpuGromos, ClustersByTheDefinition) {
    struct Case {
        Index frames, atoms, states;
        float cutoff;
    };
    for (const Case& c :
         {Case{1, 10, 1, 1.0f}, Case{2, 10, 1, 5.0f}, Case{33, 3, 2, 0.3f}, Case{140, 12, 9, 0.6f},
          Case{70, 12, 3, 0.01f}, Case{70, 12, 3, 100.0f}, Case{700, 12, 40, 0.55f}}) {
        SCOPED_TRACE(std::to_string(c.frames) + " frames, cutoff " + std::to_string(c.cutoff));
        const Frames frames = centre(several_states(c.frames, c.atoms, c.states, 11), {}, 1);
        const Truth truth(frames, c.cutoff);
        HostGpuState state;
        {
            GromosOnHost gromos(*memory_source(borrowed(frames)), 1, PeerOnHost(state));
            EXPECT_EQ(gromos.count_neighbours(c.cutoff, {}), truth.neighbours);
        }
        expect_clusters(cluster_alone(frames, {c.cutoff}, state), truth.clusters);
        // As the pass over all pairs counts them.
        state.launches.clear();
        expect_clusters(cluster_alone(frames, {c.cutoff, truth.neighbours}, state), truth.clusters);
        EXPECT_FALSE(state.launches.contains("superpose frames"));
        EXPECT_TRUE(c.frames < 700 || state.launches.contains("gather frames"));
    }
}

// A cutoff that is a pair's very value: below it, or not, is for float64 to say. The same frame
// several times: the lowest of equals is the centre.
TEST(GpuGromos, DecidesPairsAtTheCutoffAndEqualFrames) {
    Array<float, 3> xyz = several_states(90, 9, 4, 17);
    for (Index i = 60; i < 90; ++i) std::copy_n(xyz[i % 20].data, 27, xyz[i].data);
    const Frames frames = centre(xyz, {}, 1);
    const std::vector<float> rmsd = test::cpu_pairs(frames, FitPrecision::float64);
    for (std::size_t pair = 50; pair < rmsd.size(); pair += 601) {
        for (const float cutoff : {rmsd[pair], std::nextafter(rmsd[pair], 9.0f)}) {
            SCOPED_TRACE(cutoff);
            HostGpuState state;
            expect_clusters(cluster_alone(frames, {cutoff}, state), Truth(frames, cutoff).clusters);
        }
    }
}

// Rods: all pairs are doubtful.
TEST(GpuGromos, ClustersFramesWhosePairsAreAllDoubtful) {
    const Frames frames = centre(random_ensemble(70, 2, 1.0, 7), {}, 1);
    HostGpuState state;
    expect_clusters(cluster_alone(frames, {0.3}, state), Truth(frames, 0.3f).clusters);
}

/// Stops at an update.
struct StoppingAfter final : Progress {
    explicit StoppingAfter(int count) : updates_left(count) {}
    void update(std::string_view stage, std::int64_t, std::int64_t,
                std::string_view note) override {
        if (stage == "clusters") --updates_left;
        notes.emplace_back(note);
    }
    bool cancelled() override { return updates_left <= 0; }
    void message(std::string_view) override {}
    int updates_left;
    std::vector<std::string> notes;
};

TEST(GpuGromos, ResumesAfterAStop) {
    const auto path = std::filesystem::path(testing::TempDir()) / "gromos.npz";
    const Frames frames = centre(several_states(300, 12, 90, 11), {}, 1);
    const Truth truth(frames, 0.5f);
    for (const int updates : {1, 3, 4}) {
        std::filesystem::remove(path);
        StoppingAfter progress(updates);
        Context context;
        context.progress = &progress;
        context.checkpoint = path;
        HostGpuState state;
        const GromosProblem problem{0.5, truth.neighbours, "these frames"};
        EXPECT_THROW(cluster_alone(frames, problem, state, context), Cancelled);
        progress.updates_left = 1000;
        EXPECT_THROW(cluster_alone(frames, {0.6, truth.neighbours, "these frames"}, state, context),
                     InputError);
        progress.notes.clear();
        expect_clusters(cluster_alone(frames, problem, state, context), truth.clusters);
        EXPECT_EQ(progress.notes.at(0), "resumed");
    }
    std::filesystem::remove(path);
}

/// The parts of `count` GPUs.
struct PartsOnHost {
    PartsOnHost(const Frames& frames, int count) : states(static_cast<std::size_t>(count)) {
        for (int part = 0; part < count; ++part)
            all.push_back(std::make_unique<GromosOnHost>(*memory_source(borrowed(frames)), 1,
                                                         PeerOnHost(states[part]),
                                                         cuda::GpuShare{part, count}));
    }

    /// Each lane has its thread; with counted neighbours kernels run in that of the first alone.
    std::vector<DeviceClusters> cluster(const GromosProblem& problem, Context context = {}) {
        context.lanes.assign(all.size(), Device{});
        std::vector<DeviceClusters> found(all.size());
        on_lanes(context, [&](const Context& lane) {
            const auto own = static_cast<std::size_t>(lane.rank());
            found[own] = cluster_together(*all[own], problem, lane);
        });
        return found;
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
    for (const Case& c :
         {Case{1, 10, 1, 1.0f, 2}, Case{70, 12, 3, 0.01f, 2}, Case{70, 12, 3, 100.0f, 3},
          Case{200, 12, 9, 0.6f, 2}, Case{300, 12, 90, 0.5f, 3}, Case{2, 10, 1, 5.0f, 5}}) {
        SCOPED_TRACE(std::to_string(c.frames) + " frames, cutoff " + std::to_string(c.cutoff) +
                     ", parts " + std::to_string(c.parts));
        const Frames frames = centre(several_states(c.frames, c.atoms, c.states, 11), {}, 1);
        const Truth truth(frames, c.cutoff);
        PartsOnHost parts(frames, c.parts);
        for (const DeviceClusters& one : parts.cluster({c.cutoff, truth.neighbours}))
            expect_clusters(one, truth.clusters);
        for (const HostGpuState& state : parts.states) {
            EXPECT_TRUE(state.launches.contains("find the largest cluster"));
            EXPECT_FALSE(state.launches.contains("superpose frames"));
        }
    }
}

TEST(GpuGromos, SeveralGpusResumeWhatOneBegan) {
    const auto path = std::filesystem::path(testing::TempDir()) / "gromos_parts.npz";
    std::filesystem::remove(path);
    const Frames frames = centre(several_states(200, 12, 60, 11), {}, 1);
    const Truth truth(frames, 0.5f);
    StoppingAfter progress(2);
    Context context;
    context.progress = &progress;
    context.checkpoint = path;
    HostGpuState state;
    const GromosProblem problem{0.5, truth.neighbours, "these frames"};
    EXPECT_THROW(cluster_alone(frames, problem, state, context), Cancelled);
    progress.updates_left = 1000;
    PartsOnHost parts(frames, 2);
    for (const DeviceClusters& one : parts.cluster(problem, context))
        expect_clusters(one, truth.clusters);
    std::filesystem::remove(path);
}

TEST(GpuGromos, SeveralGpusCountEachPairOnce) {
    const Frames frames = centre(several_states(333, 12, 9, 14), {}, 1);
    const auto counts_of = [&](int count) {
        std::vector<int> sums(333);
        for (const auto& part : PartsOnHost(frames, count).all) {
            const std::vector<int> counts = part->count_neighbours(0.6, {});
            EXPECT_GT(std::count_if(counts.begin(), counts.end(), [](int n) { return n > 0; }), 0);
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += counts[i];
        }
        return sums;
    };
    EXPECT_EQ(counts_of(2), counts_of(1));
    EXPECT_EQ(counts_of(4), counts_of(1));
}

TEST(GpuGromos, TakesTheEstimatedMemory) {
    for (const Index count : {1, 33, 700}) {
        const Frames frames = centre(several_states(count, 17, 9, 14), {}, 1);
        HostGpuState state;
        const GromosOnHost gromos(*memory_source(borrowed(frames)), 1, PeerOnHost(state));
        EXPECT_LE(state.max_used_bytes,
                  tile_memory(count, 17, TileFormat::half) + gromos_memory(count, 17) + 100);
    }
    // Four million frames fit one GPU of 24 GB, ten million one of 80 GB.
    EXPECT_LT(clustering_memory(4'000'000, 100), std::int64_t{18} << 30);
    EXPECT_LT(clustering_memory(10'000'000, 100), std::int64_t{45} << 30);
}

TEST(GpuGromos, StopsWhenAsked) {
    const Frames frames = centre(several_states(40, 10, 3, 12), {}, 1);
    HostGpuState state;
    GromosOnHost gromos(*memory_source(borrowed(frames)), 1, PeerOnHost(state));
    Stopping progress;
    Context context;
    context.progress = &progress;
    EXPECT_THROW(gromos.count_neighbours(1.0, context), Cancelled);
}

TEST(GpuGromos, AStopOrAnErrorOfOneGpuEndsAll) {
    const Frames frames = centre(several_states(130, 10, 90, 12), {}, 1);
    const GromosProblem problem{0.6, Truth(frames, 0.6f).neighbours};
    for (const int failing : {0, 1}) {  // the first one as it clusters
        PartsOnHost parts(frames, 3);
        Stopping progress;
        Context context;
        context.lanes.assign(3, Device{});
        if (failing == 0) context.progress = &progress;
        std::vector<int> has_ended(3);
        const auto work = [&](const Context& lane) {
            const auto own = static_cast<std::size_t>(lane.rank());
            if (failing > 0 && lane.rank() == failing) throw DeviceError("lost");
            cluster_together(*parts.all[own], problem, lane);
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

TEST(GpuGromos, RefusesFramesWithoutMemory) {
    const Frames frames = centre(several_states(400, 2, 3, 13), {}, 1);
    HostGpuState state;
    state.total_bytes = cuda::kReserve + tile_memory(400, 2, TileFormat::half) + 1000;
    try {
        const GromosOnHost gromos(*memory_source(borrowed(frames)), 1, PeerOnHost(state));
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_NE(std::string(error.what()).find("clusters of 400 frames"), std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace pleat::rmsd
