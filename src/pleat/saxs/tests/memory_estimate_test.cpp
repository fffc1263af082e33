// Tests of estimates before a run: memory with and without a curve, time on a CPU, and refusals.
#include <gtest/gtest.h>

#include <cmath>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/memory_estimate.h"
#include "pleat/saxs/model/scatterer_positions.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {
namespace {

Ensemble protein(Index frames, double factor = 1) {
    Ensemble ensemble = read_ensemble({(pleat::test::data_folder() / "1a8o.pdb.gz").string()},
                                      {.topology = {}, .select = "not (MSE)", .range = {}});
    const Array<float, 3> one = ensemble.xyz;
    ensemble.xyz = Array<float, 3>(frames, Index{3}, one.extent(2));
    ensemble.origins.assign(static_cast<std::size_t>(frames), ensemble.origins.front());
    for (Index frame = 0; frame < frames; ++frame)
        for (Index n = 0; n < one[0].size(); ++n)
            ensemble.xyz[frame].data[n] = one[0].data[n] * static_cast<float>(factor);
    return ensemble;
}

Profile curve_of(std::size_t points) {
    Profile curve;
    for (std::size_t k = 0; k < points; ++k) {
        curve.q.push_back(0.4 * static_cast<double>(k + 1) / static_cast<double>(points));
        curve.intensity.push_back(100 * std::exp(-80 * curve.q.back() * curve.q.back()));
        curve.sigma.push_back(1);
    }
    return curve;
}

// At the curve's points profiles of six pairs of channels are kept once for each frame, and seven
// times for each axis; at the grid's once. A structure this long has more points of the grid than
// --q-points asks for.
TEST(MemoryEstimate, CountsTheCurvesPointsAndTheGridOfLongStructures) {
    const Ensemble extended = protein(40, 30), compact = protein(40);
    const Profile curve = curve_of(3000);
    Parameters parameters;
    parameters.bin_width = 0;
    parameters.max_members = 0;  // whose sets of frames may take more than all profiles
    EXPECT_GT(memory_needed({&extended, 1}, &curve, parameters, {}) -
                  memory_needed({&compact, 1}, &curve, parameters, {}),
              std::int64_t{8} * 40 * 6 * 1000);
    // More frames than axes.
    const ComponentSize many{2000, compact.atom_count(), 50};
    const auto bytes = [&](Index points) {
        return estimate({&many, 1}, points, parameters, {}).host_bytes;
    };
    const std::int64_t of_points =
        std::int64_t{8} * 6 * 3000 * (2000 + 7 * static_cast<Index>(kMaxProfileAxes));
    EXPECT_GT(bytes(6000) - bytes(3000), of_points);
    EXPECT_LT(bytes(6000) - bytes(3000), of_points * 5 / 4);
    parameters = {};
    const Ensemble both[] = {protein(40), protein(60)};
    EXPECT_GE(memory_needed(both, nullptr, parameters, {}),
              component_memory(100, both[0].atom_count(), parameters.q_points, 1));
}

TEST(MemoryEstimate, TimeGrowsWithFramesAndPointsAndOptionsExcludeGpus) {
    const Ensemble one = protein(1), many = protein(50);
    Parameters parameters;
    const Effort little = effort({&one, 1}, nullptr, parameters);
    EXPECT_GT(little.cpu_seconds, 0);
    EXPECT_LT(little.cpu_seconds, 0.1);
    ASSERT_TRUE(little.gpu_bytes.has_value());
    EXPECT_GT(*little.gpu_bytes, 0);
    EXPECT_NEAR(effort({&many, 1}, nullptr, parameters).cpu_seconds / little.cpu_seconds, 50, 1e-6);
    parameters.q_points = 2000;
    EXPECT_GT(effort({&one, 1}, nullptr, parameters).cpu_seconds, 2 * little.cpu_seconds);
    parameters.method = Method::debye;
    const double in_float32 = effort({&one, 1}, nullptr, parameters).cpu_seconds;
    parameters.precision = Precision::float64;
    EXPECT_GT(effort({&one, 1}, nullptr, parameters).cpu_seconds, 2 * in_float32);
    EXPECT_TRUE(effort({&one, 1}, nullptr, parameters).gpu_bytes.has_value());
    parameters.method = Method::multipole;
    EXPECT_FALSE(effort({&one, 1}, nullptr, parameters).gpu_bytes.has_value());
    parameters.precision = Precision::automatic;
    EXPECT_TRUE(effort({&one, 1}, nullptr, parameters).gpu_bytes.has_value());
    parameters.q_max = 100;  // more degrees than a GPU's kernels have lanes for
    EXPECT_FALSE(effort({&one, 1}, nullptr, parameters).gpu_bytes.has_value());
}

TEST(MemoryEstimate, OfSizesIsThatOfTheEnsemble) {
    const Ensemble ensemble = protein(40);
    const Profile curve = curve_of(300);
    const Parameters parameters;
    const std::vector<ComponentSize> sizes = sizes_of({&ensemble, 1}, 1);
    const Estimate plain = estimate(sizes, 0, parameters, {});
    const Estimate fitted = estimate(sizes, 300, parameters, {});
    EXPECT_GE(plain.host_bytes, memory_needed({&ensemble, 1}, nullptr, parameters, {}));
    EXPECT_GE(fitted.host_bytes, memory_needed({&ensemble, 1}, &curve, parameters, {}));
    EXPECT_GT(fitted.seconds, plain.seconds);
    EXPECT_EQ(plain.gpu_bytes, 0);
    Context gpu;
    gpu.device = {Device::Kind::cuda, 0};
    EXPECT_EQ(estimate(sizes, 0, parameters, gpu).gpu_bytes,
              *effort({&ensemble, 1}, nullptr, parameters).gpu_bytes);
    Parameters multipole = parameters;
    multipole.method = Method::multipole;
    EXPECT_GT(estimate(sizes, 0, multipole, {}).host_bytes, plain.host_bytes);
    EXPECT_GT(estimate(sizes, 0, multipole, gpu).gpu_bytes, 0);
    multipole.precision = Precision::float64;
    EXPECT_THROW(estimate(sizes, 0, multipole, gpu), UsageError);
}

TEST(MemoryEstimate, CountsTheBlocksOfHydrationLayersOnAGpu) {
    const Ensemble many = protein(kMinFramesOnGpu), few = protein(kMinFramesOnGpu - 1);
    const Profile curve = curve_of(300);
    Context gpu;
    gpu.device = {Device::Kind::cuda, 0};
    const auto more_on_gpu = [&](const Ensemble& ensemble, const Profile* measured) {
        return memory_needed({&ensemble, 1}, measured, {}, gpu) -
               memory_needed({&ensemble, 1}, measured, {}, {});
    };
    EXPECT_EQ(more_on_gpu(many, &curve), 2 * kSurfaceBytes);
    EXPECT_EQ(more_on_gpu(few, &curve), 0);
    EXPECT_EQ(more_on_gpu(many, nullptr), 0);
}

TEST(InputChecks, RefuseWhatADeviceDoesNotOffer) {
    const Ensemble ensemble = protein(1);
    Parameters parameters;
    Context context;
    context.device = {Device::Kind::cuda, 0};
    parameters.precision = Precision::float64;
    parameters.method = Method::multipole;
    EXPECT_THROW(run({&ensemble, 1}, nullptr, nullptr, parameters, context), UsageError);
    context.device = {Device::Kind::reference, 0};
    EXPECT_THROW(run({&ensemble, 1}, nullptr, nullptr, parameters, context), UsageError);
    parameters.precision = Precision::float32;
    parameters.method = Method::automatic;
    EXPECT_THROW(run({&ensemble, 1}, nullptr, nullptr, parameters, context), UsageError);
    const Ensemble far = protein(1, 1e5);
    parameters.precision = Precision::automatic;
    context.device = {Device::Kind::cpu, 0};
    EXPECT_THROW(run({&far, 1}, nullptr, nullptr, parameters, context), InputError);
}

}  // namespace
}  // namespace pleat::saxs
