// The CUDA kernel of exposed points, thread by thread on the host, against the CPU: the same bits.
#include "pleat/core/tests/host_gpu.h"  // before the kernels

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "crowd.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/saxs/cuda/surface_kernel.cuh"
#include "pleat/saxs/model/scatterer_positions.h"

namespace pleat::saxs {
namespace {

using pleat::test::HostGpu;
using pleat::test::HostGpuState;
using test::Crowd;

using SurfacesOnHost = cuda::GpuSurfaceKernel<HostGpu>;

/// The exposures of a crowd by the kernel, which must be those of the CPU.
std::vector<Exposure> expect_exposures(const Crowd& crowd, double probe) {
    SCOPED_TRACE(std::to_string(crowd.sizes.size()) + " spheres");
    std::vector<double> reach = crowd.sizes;
    for (double& one : reach) one += probe;
    HostGpuState state;
    SurfacesOnHost kernel(reach, 1, HostGpu(state));
    kernel.block(1).set_frame(0, crowd.at, reach);
    kernel.start(1, 1);
    kernel.finish();
    const std::vector<Exposure> expected = exposures(crowd.at, crowd.sizes, probe, {});
    const Array<double, 2> points = surface_points();
    std::vector<Exposure> found;
    for (std::size_t n = 0; n < expected.size(); ++n) {
        found.push_back(exposure_of(kernel.block(1).exposed(0, static_cast<Index>(n)), points));
        EXPECT_EQ(found[n].fraction, expected[n].fraction) << n;
        EXPECT_TRUE(std::ranges::equal(found[n].direction, expected[n].direction)) << n;
    }
    return found;
}

TEST(SurfacesOnHost, AreThoseOfTheCpu) {
    for (const auto& [count, side, origin] : {std::tuple{Index{1}, 5.0, 0.0},
                                              {Index{9}, 6.0, 0.0},
                                              {Index{30}, 400.0, 0.0},
                                              {Index{33}, 12.0, -900.0},
                                              {Index{500}, 25.0, 5000.0}})
        expect_exposures(Crowd(count, side, origin, static_cast<unsigned>(count)), 1.4);
}

// All spheres overlap all others: more than a warp keeps, several times over.
TEST(SurfacesOnHost, CompareMoreOverlapsThanAWarpKeeps) {
    constexpr Index kSpheres = 300;
    static_assert(kSpheres > 4 * cuda::kKeptOverlaps);
    const std::vector<Exposure> found = expect_exposures(Crowd(kSpheres, 2.5, 0.0, 5), 1.4);
    EXPECT_TRUE(std::ranges::any_of(found, [](const Exposure& one) { return one.fraction > 0; }));
    EXPECT_TRUE(std::ranges::any_of(found, [](const Exposure& one) { return one.fraction == 0; }));
}

TEST(SurfacesOnHost, OfSpheresAtOneCentreTheFirstOfTheLargestIsExposed) {
    for (const Index count : {2, 40, 100}) {
        Crowd crowd(count, 0.0, 7.0, 1);
        crowd.at.fill(7.0f);
        std::ranges::fill(crowd.sizes, 1.7);
        crowd.sizes.front() = 1.5;
        const std::vector<Exposure> found = expect_exposures(crowd, 1.4);
        for (std::size_t n = 0; n < found.size(); ++n)
            EXPECT_EQ(found[n].fraction, n == 1 ? 1 : 0) << n << " of " << count;
    }
}

/// Lysozyme in frames of different extents.
struct Lysozyme {
    Ensemble ensemble = read_ensemble({(pleat::test::data_folder() / "1hel.pdb.gz").string()});
    Scatterers scatterers = make_scatterers(*ensemble.topology, ensemble.xyz[0], {});
    Array<float, 3> xyz;

    explicit Lysozyme(Index frames) : xyz(frames, 3, ensemble.atom_count()) {
        std::mt19937 random(3);
        std::normal_distribution<float> shift(0, 0.2f);
        for (Index frame = 0; frame < frames; ++frame)
            for (Index axis = 0; axis < 3; ++axis)
                for (Index n = 0; n < xyz.extent(2); ++n)
                    xyz(frame, axis, n) =
                        ensemble.xyz(0, axis, n) * (1 + 0.3f * static_cast<float>(frame * axis)) +
                        shift(random);
    }
};

/// Cancels at a question, and keeps what is reported.
class Listener final : public Progress {
public:
    explicit Listener(int questions = 1 << 30) : left_(questions) {}
    void update(std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view) override {
        EXPECT_EQ(stage, "hydration");
        total_ = total;
        done_.push_back(done);
    }
    void message(std::string_view) override {}
    bool cancelled() override { return left_-- <= 0; }
    std::int64_t total() const { return total_; }
    const std::vector<std::int64_t>& done() const { return done_; }

private:
    int left_;
    std::int64_t total_ = 0;
    std::vector<std::int64_t> done_;
};

// Five frames in blocks of two: both blocks are used again, and the last one is not full.
TEST(SurfacesOnHost, MakeTheLayersOfManyFrames) {
    const Lysozyme protein(5);
    const Array<float, 3> expected = hydration_layers(protein.xyz, protein.scatterers, {});
    const std::vector<double> reach = radii_with_probe(protein.scatterers);
    const auto members = static_cast<Index>(reach.size());
    HostGpuState state;
    {
        SurfacesOnHost kernel(reach, 5, HostGpu(state), 2 * surface_frame_bytes(members));
        ASSERT_EQ(kernel.max_frames(), 2);
        Array<float, 3> found(5, 4, protein.scatterers.count());
        Listener listener;
        Context context;
        context.threads = 2;
        context.progress = &listener;
        set_hydration_layers(kernel, protein.xyz, protein.scatterers, context, found);
        EXPECT_TRUE(std::ranges::equal(found, expected));
        EXPECT_EQ(listener.total(), 5);
        EXPECT_EQ(listener.done(), (std::vector<std::int64_t>{2, 4, 5}));
        EXPECT_EQ(state.launches["find exposed points"], 3);
        Listener stopping(2);
        context.progress = &stopping;
        EXPECT_THROW(set_hydration_layers(kernel, protein.xyz, protein.scatterers, context, found),
                     Cancelled);
    }
    EXPECT_EQ(state.used_bytes, 0);
}

/// One of two ranks, which exchange nothing.
class SecondRank final : public Comm {
public:
    int rank() const override { return 1; }
    int size() const override { return 2; }
};

TEST(SurfacesOnHost, MakeTheLayersOfARanksFrames) {
    const Lysozyme protein(3);
    const Array<float, 3> expected = hydration_layers(protein.xyz, protein.scatterers, {});
    HostGpuState state;
    SurfacesOnHost kernel(radii_with_probe(protein.scatterers), 1, HostGpu(state));
    Array<float, 3> found(3, 4, protein.scatterers.count());
    SecondRank rank;
    Context context;
    context.comm = &rank;
    set_hydration_layers(kernel, protein.xyz, protein.scatterers, context, found);
    for (Index frame = 0; frame < 3; ++frame)
        for (Index n = 0; n < found[0].size(); ++n)
            ASSERT_EQ(found[frame].data[n], frame == 1 ? expected[frame].data[n] : 0.0f) << frame;
}

TEST(SurfacesOnHost, RefuseWithoutMemory) {
    const std::vector<double> reach(100000, 3.0);
    HostGpuState state;
    state.total_bytes = 4 << 20;
    EXPECT_THROW(SurfacesOnHost(reach, 100, HostGpu(state)), DeviceError);
    EXPECT_EQ(state.max_used_bytes, 0);
}

}  // namespace
}  // namespace pleat::saxs
