// Every kernel of saxs against the float64 reference: random shapes and real structures.
#include <gtest/gtest.h>

#include <algorithm>

#include "every_kernel.h"
#include "oracle.h"
#include "pleat/core/error.h"
#include "random_model.h"

namespace pleat::saxs {
namespace {

using test::largest_error;
using test::Oracle;
using test::profiles_of;
using test::random_scatterers;
using test::RandomScatterers;
using test::RandomShape;
using test::with_every_kernel;

/// Each partial profile within `tolerance` of the largest amplitude product that could stand there.
void expect_profiles(const RandomShape& shape, double tolerance32, double tolerance64) {
    const RandomScatterers given = random_scatterers(shape);
    const Array<double, 3> expected =
        profiles_of(*make_reference_kernel(given.model), given.model, given.xyz, given.scales);
    with_every_kernel(given.model, [&](const std::string& name, Kernel& kernel, bool float64) {
        const Array<double, 3> found = profiles_of(kernel, given.model, given.xyz, given.scales);
        for (Index frame = 0; frame < found.extent(0); ++frame)
            for (Index pair = 0; pair < found.extent(1); ++pair)
                for (Index k = 0; k < found.extent(2); ++k)
                    ASSERT_NEAR(found(frame, pair, k) / expected(frame, pair, k), 1.0,
                                float64 ? tolerance64 : tolerance32)
                        << name << " frame " << frame << " pair " << pair << " q " << k;
    });
}

const RandomShape kShapes[] = {
    {.scatterers = 1, .types = 1},
    {.scatterers = 2, .types = 2},
    {.scatterers = 3, .types = 1, .q = 1},
    {.scatterers = 17, .types = 3, .q = 4},
    {.scatterers = 33, .types = 1, .q = 17},
    {.scatterers = 64, .types = 5, .q = 18, .first = 0.01},
    {.scatterers = 70, .types = 70, .q = 35},
    {.scatterers = 129, .types = 2, .q = 101, .step = 0.005},
    {.scatterers = 300, .types = 3, .q = 52, .frames = 3},
    {.scatterers = 90, .types = 4, .q = 40, .even = false},
    {.scatterers = 60, .types = 3, .channels = 3, .scaled = 1, .frames = 2},
    {.scatterers = 60, .types = 3, .channels = 3, .scaled = 2, .q = 20, .even = false},
    {.scatterers = 40, .types = 3, .channels = 2, .scaled = 2, .q = 20},
    {.scatterers = 60, .types = 3, .channels = 2, .scaled = 2, .q = 20, .shares_scales = true},
    {.scatterers = 60, .types = 3, .channels = 3, .scaled = 2, .q = 20, .shares_scales = true},
    // Enough pairs of a type for moments.
    {.scatterers = 400,
     .types = 2,
     .channels = 2,
     .scaled = 2,
     .q = 20,
     .shares_scales = true,
     .spread = 8.0},
    {.scatterers = 400, .types = 2, .q = 51, .frames = 2, .spread = 12.0},
    {.scatterers = 400, .types = 2, .q = 40, .even = false, .spread = 12.0},
};

TEST(Kernel, FindsTheReferencesProfiles) {
    for (const RandomShape& shape : kShapes) {
        SCOPED_TRACE(std::to_string(shape.scatterers) + " scatterers, " +
                     std::to_string(shape.types) + " types, " + std::to_string(shape.q) + " q");
        expect_profiles(shape, 2e-6, 1e-9);
    }
}

// Channels that share scales have the profiles of channels with equal scales of their own.
TEST(Kernel, SharesScalesBetweenChannels) {
    const RandomScatterers given = random_scatterers(
        {.scatterers = 30, .types = 3, .channels = 3, .scaled = 2, .q = 12, .shares_scales = true});
    Model separate = given.model;
    separate.scaled = {0, 1, 1};
    Array<float, 3> scales(Index{1}, Index{2}, Index{30});
    for (Index row = 0; row < 2; ++row)
        std::copy(given.scales.begin(), given.scales.end(), &scales(0, row, 0));
    const Array<double, 3> expected =
        profiles_of(*make_reference_kernel(separate), separate, given.xyz, scales);
    const Array<double, 3> found =
        profiles_of(*make_reference_kernel(given.model), given.model, given.xyz, given.scales);
    for (Index n = 0; n < found.size(); ++n)
        ASSERT_DOUBLE_EQ(found.data()[n], expected.data()[n]) << n;
    Model wrong = given.model;
    wrong.scaled = {0, 2, 1};
    EXPECT_THROW(check(wrong), UsageError);
}

/// Without fused multiply-adds every product of float32 is rounded once more.
bool has_fused(const std::string& name) {
    return name.find("SS") == std::string::npos && name.find("SCALAR") == std::string::npos;
}

void expect_oracle(const Oracle& oracle, const std::string& name, Kernel& kernel, bool float64) {
    const Array<double, 3> found = profiles_of(kernel, oracle.model, oracle.xyz);
    const double error = largest_error(found.view()[0][0], oracle.intensity);
    EXPECT_LE(error, float64 ? 1e-6 : has_fused(name) ? 2e-6 : 4e-6) << name;
}

void expect_oracle(const Oracle& oracle) {
    with_every_kernel(oracle.model, [&](const std::string& name, Kernel& kernel, bool float64) {
        expect_oracle(oracle, name, kernel, float64);
    });
}

TEST(Kernel, FindsTheProfilesOfStructures) {
    for (const Oracle& oracle : test::small_oracles()) expect_oracle(oracle);
    if (!test::has_oracle()) return;
    // Larger ones by the instructions of this machine alone, since others take long.
    Context context;
    for (const char* name : {"1XIB_monomer", "1XIB_4mer"}) {
        SCOPED_TRACE(name);
        const Oracle oracle = test::all_atom(name);
        for (const Precision precision : {Precision::float32, Precision::float64}) {
            const bool float64 = precision == Precision::float64;
            expect_oracle(oracle, "pairs", *make_cpu_kernel(oracle.model, precision, context),
                          float64);
            expect_oracle(oracle, "multipole",
                          *make_multipole_kernel(oracle.model, precision, context), true);
        }
    }
}

TEST(Kernel, GivesTheSameBitsForAnyNumberOfThreadsAndFrames) {
    const RandomScatterers given =
        random_scatterers({.scatterers = 700, .types = 3, .channels = 2, .scaled = 1, .frames = 3});
    for (const Method method : {Method::debye, Method::multipole, Method::automatic}) {
        Array<double, 3> expected;
        for (const int threads : {1, 2, 3}) {
            Context context;
            context.threads = threads;
            const Array<double, 3> found =
                profiles(given.model, given.xyz, given.scales, {.method = method}, context);
            if (threads == 1) expected = found;
            for (Index n = 0; n < found.size(); ++n)
                ASSERT_EQ(found.data()[n], expected.data()[n]) << threads << " threads";
            for (Index frame = 0; frame < 3; ++frame) {
                const auto one = [&](const Array<float, 3>& of) {
                    return View<const float, 3>(of.view()[frame].data, Index{1}, of.extent(1),
                                                of.extent(2));
                };
                const Array<double, 3> alone = profiles(
                    given.model, one(given.xyz), one(given.scales), {.method = method}, context);
                for (Index n = 0; n < alone.size(); ++n)
                    ASSERT_EQ(alone.data()[n], expected.view()[frame].data[n]) << "frame " << frame;
            }
        }
    }
}

// Frames of many sizes: more tables than are kept, a thread for each frame or all for one.
TEST(MultipoleKernel, GivesFramesOnThreadsTheBitsOfEachAlone) {
    RandomScatterers given = random_scatterers({.channels = 2, .scaled = 1, .q = 20, .frames = 40});
    for (Index frame = 0; frame < 40; ++frame)
        for (float& x : given.xyz[frame]) x *= 0.3f + 0.05f * static_cast<float>(frame * 7 % 40);
    Context alone, shared;
    alone.threads = 1;
    shared.threads = 3;
    const auto kernel = make_multipole_kernel(given.model, Precision::float32, shared);
    for (const int pass : {1, 2}) {  // the second one meets tables of the first
        const Array<double, 3> found = profiles_of(*kernel, given.model, given.xyz, given.scales);
        for (Index frame = 0; frame < 40; ++frame) {
            Array<double, 2> one(given.model.pair_count(), given.model.q_count());
            const auto of = [&](auto& all) {
                auto view = all.view();
                return View<const float, 3>(view[frame].data, 1, all.extent(1), all.extent(2));
            };
            const auto single = make_multipole_kernel(given.model, Precision::float32, alone);
            single->profiles(of(given.xyz), of(given.scales),
                             View<double, 3>(one.data(), 1, one.extent(0), one.extent(1)));
            for (Index n = 0; n < one.size(); ++n)
                ASSERT_EQ(found[frame].data[n], one.data()[n]) << pass << " frame " << frame;
            kernel->profiles(of(given.xyz), of(given.scales),
                             View<double, 3>(one.data(), 1, one.extent(0), one.extent(1)));
            for (Index n = 0; n < one.size(); ++n)
                ASSERT_EQ(found[frame].data[n], one.data()[n]) << pass << " again " << frame;
        }
    }
}

}  // namespace
}  // namespace pleat::saxs
