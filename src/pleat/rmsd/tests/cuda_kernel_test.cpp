// The CUDA kernels of rmsd on a GPU: values against the reference, counts, and clusters.
#include <gtest/gtest.h>

#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/core/tests/cuda_absence.h"
#include "pleat/rmsd/pairs/frame_pairs.h"
#include "pleat/rmsd/tests/every_kernel.h"
#include "pleat/rmsd/tests/gpu_truth.h"
#include "pleat/rmsd/tests/oracle_frames.h"

namespace pleat::rmsd {
namespace {

class CudaKernel : public testing::Test {
protected:
    void SetUp() override {
        const std::string absence = pleat::test::cuda_absence();
        if (!absence.empty()) GTEST_SKIP() << absence;
        context_.device = {Device::Kind::cuda, 0};
        context_.threads = 2;
    }
    Context context_;
};

TEST_F(CudaKernel, InFloat64AgreesWithTheReference) {
    for (const Index frames : {2, 33, 300}) {
        const Frames centred = centre(random_ensemble(frames, 41, 1.5, 7), {}, 1);
        const Problem problem{.frames = &centred, .precision = FitPrecision::float64};
        const auto found = test::all_pairs(*make_cuda_kernel(problem, context_), frames, 48);
        const auto expected = test::reference_pairs(centred);
        for (std::size_t pair = 0; pair < expected.size(); ++pair)
            ASSERT_NEAR(found[pair], expected[pair], 1e-6) << frames << " frames, pair " << pair;
    }
}

TEST_F(CudaKernel, AgreesWithTheReference) {
    for (const Index atoms : {1, 2, 3, 16, 41, 100, 140, 490, 700}) {
        for (const double spread : {0.05, 1.0, 4.0, 30.0}) {
            const Index count = atoms > 200 ? 70 : 333;
            SCOPED_TRACE(std::to_string(atoms) + " atoms, spread " + std::to_string(spread));
            const Frames frames = centre(random_ensemble(count, atoms, spread, 8), {}, 1);
            const auto kernel = make_cuda_kernel({.frames = &frames}, context_);
            const auto found = test::all_pairs(*kernel, count, 100);
            test::expect_near(found, test::reference_pairs(frames));
            EXPECT_EQ(test::all_pairs(*kernel, count, count), found);
        }
    }
}

TEST_F(CudaKernel, EveryDegenerateClassIsRight) {
    for (const test::OracleFrames& oracle : test::degenerate_ensembles()) {
        const auto kernel = make_cuda_kernel({.frames = &oracle.frames}, context_);
        test::expect_oracle(oracle, test::all_pairs(*kernel, oracle.frames.frame_count()),
                            "floats");
    }
}

TEST_F(CudaKernel, IsRightOnRealTrajectories) {
    for (const test::OracleFrames& oracle : test::trajectories()) {
        SCOPED_TRACE(oracle.name);
        const auto kernel = make_cuda_kernel({.frames = &oracle.frames}, context_);
        const auto found = test::all_pairs(*kernel, oracle.frames.frame_count());
        EXPECT_LE(test::worst_error(found, oracle.truth), 1e-5);
    }
}

TEST_F(CudaKernel, CountsAsFloat64Decides) {
    const Index count = 1500;
    const Frames frames = centre(random_ensemble(count, 60, 0.6, 5), {}, 1);
    const std::vector<float> values = test::reference_pairs(frames);
    for (const Bins options :
         {Bins{0.05, 1.45}, Bins{1e-5, 1.45}, Bins{1e-3, 0.0}, Bins{1e6, 100.0}}) {
        const auto kernel = make_cuda_kernel({.frames = &frames}, context_);
        PairCounts found;
        for (Index row = 0; row < count; row += 700)
            kernel->counter()->count({row, std::min<Index>(700, count - row)}, options, found);
        test::expect_counts(found, test::counts_of(values, count, options),
                            pairs_before(count, count));
    }
}

TEST_F(CudaKernel, KnowsWeights) {
    const Index count = 333;
    const Array<float, 3> xyz = random_ensemble(count, 41, 1.0, 9);
    std::vector<double> weights;
    weights.reserve(41);
    for (int k = 0; k < 41; ++k) weights.push_back(k % 7 == 0 ? 0.0 : 1.0 + k % 5);
    const Frames frames = centre(xyz, weights, 1);
    const std::vector<float> expected = test::reference_pairs(frames);
    const auto kernel = make_cuda_kernel({.frames = &frames}, context_);
    test::expect_near(test::all_pairs(*kernel, count), expected);
    const DeviceClusters clusters =
        cluster_on_cuda(*memory_source(borrowed(frames)), {1.2}, context_);
    EXPECT_EQ(clusters.assignment, test::gromos_by_definition(expected, count, 1.2f).assignment);
}

TEST_F(CudaKernel, ClustersByTheDefinition) {
    for (const Index count : {1, 33, 1000, 3000}) {
        const Frames frames = centre(test::several_states(count, 30, 40, 11), {}, 1);
        const auto rmsd = test::cpu_pairs(frames, FitPrecision::float64, 2);
        for (const float cutoff : {0.01f, 0.62f, 1.0f, 100.0f}) {
            const DeviceClusters expected = test::gromos_by_definition(rmsd, count, cutoff);
            const DeviceClusters found =
                cluster_on_cuda(*memory_source(borrowed(frames)), {cutoff}, context_);
            EXPECT_EQ(found.assignment, expected.assignment) << count << " frames, " << cutoff;
            EXPECT_EQ(found.centres, expected.centres) << count << " frames, " << cutoff;
        }
    }
}

/// Lists of GPUs that work together: one GPU in place of several, and all that read each other.
std::vector<std::vector<Device>> lists_of_gpus() {
    const Device first{Device::Kind::cuda, 0};
    std::vector<std::vector<Device>> lists{{first, first}, {first, first, first}};
    std::vector<Device> all{first};
    for (int index = 1; index < count_cuda_devices(); ++index) {
        all.push_back({Device::Kind::cuda, index});
        if (can_read_each_other(all)) lists.push_back(all);
    }
    return lists;
}

TEST_F(CudaKernel, LanesFindTheClustersOfOneGpu) {
    for (const Index count : {50, 3000, 20000}) {
        const Frames frames = centre(test::several_states(count, 30, 40, 11), {}, 1);
        const auto source = memory_source(borrowed(frames));
        const DeviceClusters expected = cluster_on_cuda(*source, {0.62}, context_);
        for (const std::vector<Device>& gpus : lists_of_gpus()) {
            SCOPED_TRACE(std::to_string(count) + " frames, lanes " + std::to_string(gpus.size()));
            Context context = context_;
            context.lanes = gpus;
            std::vector<DeviceClusters> found(gpus.size());
            on_lanes(context, [&](const Context& lane) {
                found[lane.rank()] = cluster_on_cuda(*source, {0.62}, lane);
            });
            for (const DeviceClusters& one : found) {
                EXPECT_EQ(one.assignment, expected.assignment);
                EXPECT_EQ(one.centres, expected.centres);
            }
        }
    }
}

/// Asks to stop once it hears of a stage.
struct StopAt final : Progress {
    explicit StopAt(std::string name) : stage(std::move(name)) {}
    void update(std::string_view now, std::int64_t, std::int64_t, std::string_view) override {
        is_there = is_there || now == stage;
    }
    bool cancelled() override { return is_there; }
    void message(std::string_view) override {}
    std::string stage;
    bool is_there = false;
};

TEST_F(CudaKernel, AStopOrAnErrorOfOneLaneEndsAllAndTheGpusGoOn) {
    const Frames frames = centre(test::several_states(3000, 30, 40, 11), {}, 1);
    const auto source = memory_source(borrowed(frames));
    for (const std::vector<Device>& gpus : lists_of_gpus()) {
        Context context = context_;
        context.lanes = gpus;
        const auto cluster = [&](const Context& lane) { cluster_on_cuda(*source, {0.62}, lane); };
        for (const char* stage : {"neighbours", "clusters"}) {
            StopAt stop(stage);
            context.progress = &stop;
            EXPECT_THROW(on_lanes(context, cluster), Cancelled) << stage;
        }
        context.progress = nullptr;
        const auto failing = [&](const Context& lane) {
            if (lane.rank() == 1) throw DeviceError("lost");
            cluster(lane);
        };
        EXPECT_THROW(on_lanes(context, failing), DeviceError);
        EXPECT_NO_THROW(on_lanes(context, cluster));
    }
}

TEST_F(CudaKernel, FramesThatAreReadInBlocksHaveTheBitsOfFramesInMemory) {
    const Index count = 3000;
    const Array<float, 3> xyz = test::several_states(count, 30, 40, 19);
    const Frames frames = centre(xyz, {}, 2);
    const auto source = block_source(FrameStore(xyz.view()), {}, 2, 100);
    const auto all = make_cuda_kernel({.frames = &frames}, context_);
    const auto blocks = make_cuda_kernel({.source = source}, context_);
    EXPECT_EQ(test::all_pairs(*blocks, count), test::all_pairs(*all, count));
    const DeviceClusters found = cluster_on_cuda(*source, {0.62}, context_),
                         expected =
                             cluster_on_cuda(*memory_source(borrowed(frames)), {0.62}, context_);
    EXPECT_EQ(found.assignment, expected.assignment);
    EXPECT_EQ(found.centres, expected.centres);
}

TEST_F(CudaKernel, FramePairsCountClusterAndMeasureSubsets) {
    const Index count = 3000;
    const Array<float, 3> xyz = test::several_states(count, 30, 40, 19);
    const Frames frames = centre(xyz, {}, 2);
    const auto rmsd = test::cpu_pairs(frames, FitPrecision::float64, 2);
    const auto pairs = superposed_pairs(xyz, {}, {}, true, context_);
    PairCounts counts;
    pairs->counter()->count({0, count}, {.width = 0.05, .cutoff = 0.62, .counts_neighbours = true},
                            counts);
    test::expect_counts(counts, test::counts_of(rmsd, count, {0.05, 0.0}),
                        pairs_before(count, count));
    const DeviceClusters expected = test::gromos_by_definition(rmsd, count, 0.62f);
    for (const auto& neighbours : std::vector<std::vector<std::int32_t>>{counts.neighbours, {}}) {
        const DeviceClusters found = pairs->gromos(0.62, neighbours, context_);
        EXPECT_EQ(found.assignment, expected.assignment);
        EXPECT_EQ(found.centres, expected.centres);
    }
    const auto truth = [&](Index i, Index j) {
        return i == j ? 0.0f : rmsd[pairs_before(std::min(i, j), count) + std::abs(i - j) - 1];
    };
    for (const Index many : {2, 40, 1500}) {  // on the CPU and on the GPU
        std::vector<Index> chosen;
        for (Index n = 0; n < many; ++n) chosen.push_back(2 * n);
        std::vector<double> sums(chosen.size());
        std::vector<float> maxima(chosen.size());
        ASSERT_TRUE(pairs->counter()->sum_among(chosen, context_, sums, maxima));
        for (Index a = 0; a < many; ++a) {
            double sum = 0.0;
            float max = 0.0f;
            for (Index b = 0; b < many; ++b) {
                sum += truth(chosen[a], chosen[b]);
                max = std::max(max, truth(chosen[a], chosen[b]));
            }
            ASSERT_NEAR(sums[a], sum, 1.1e-5 * static_cast<double>(many));
            ASSERT_NEAR(maxima[a], max, 1.1e-5);
        }
        pairs->among(chosen, [&](Block rows, const float* values) {
            for (Index a = rows.first; a < rows.first + rows.count; ++a)
                for (Index b = a + 1; b < many; ++b)
                    ASSERT_NEAR(*values++, truth(chosen[a], chosen[b]), 1.1e-5);
        });
    }
    const std::vector<Index> chosen = {5, 2999, 0};
    std::vector<float> rows(chosen.size() * static_cast<std::size_t>(count));
    pairs->rows(chosen, rows.data());
    for (std::size_t a = 0; a < chosen.size(); ++a)
        for (Index j = 0; j < count; ++j)
            ASSERT_NEAR(rows[a * count + j], truth(chosen[a], j), 1.1e-5);
}

}  // namespace
}  // namespace pleat::rmsd
