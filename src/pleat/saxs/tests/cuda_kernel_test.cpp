// The CUDA kernel and sessions on a GPU against float64; gpu_on_host_test.cpp runs some on the
// host.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>
#include <utility>

#include "every_gpu.h"
#include "every_kernel.h"
#include "oracle.h"
#include "pleat/core/error.h"
#include "pleat/saxs/debye/body_pairs.h"
#include "pleat/saxs/model/scatterer_positions.h"
#include "pleat/saxs/session/profile_session.h"
#include "random_model.h"
#include "shared_sessions.h"
#include "turns.h"

namespace pleat::saxs {
namespace {

using test::EveryGpu;
using test::profiles_of;
using test::random_scatterers;
using test::RandomScatterers;
using test::RandomShape;

Context on_gpu() {
    Context context;
    context.device = {Device::Kind::cuda, 0};
    return context;
}

/// Of 60 scatterers: the first 24 are one body, the others another.
std::vector<std::int32_t> two_bodies() {
    std::vector<std::int32_t> bodies(60, 1);
    std::fill_n(bodies.begin(), 24, 0);
    return bodies;
}

class CudaKernel : public ::testing::Test {
protected:
    void SetUp() override {
        const std::string absence = pleat::test::cuda_absence();
        if (!absence.empty()) GTEST_SKIP() << absence;
    }
};

const RandomShape kShapes[] = {
    {.scatterers = 1, .types = 1},
    {.scatterers = 2, .types = 2, .q = 4},
    {.scatterers = 33, .types = 1, .q = 17, .frames = 5},
    {.scatterers = 200, .types = 3, .q = 52, .first = 0.01, .frames = 700},
    {.scatterers = 129, .types = 2, .q = 101, .step = 0.005},
    {.scatterers = 90, .types = 90, .q = 40, .even = false},
    {.scatterers = 150, .types = 3, .channels = 3, .scaled = 1, .frames = 2},
    {.scatterers = 150, .types = 3, .channels = 4, .scaled = 1, .q = 40},
    {.scatterers = 120,
     .types = 4,
     .channels = 3,
     .scaled = 1,
     .q = 60,
     .separates = true,
     .frames = 2},
    {.scatterers = 150, .types = 3, .channels = 2, .scaled = 2, .q = 20, .even = false},
    {.scatterers = 600, .types = 4, .channels = 3, .scaled = 1, .frames = 300},
    {.scatterers = 600, .types = 4, .channels = 3, .scaled = 1, .even = false, .frames = 300},
    {.scatterers = 5000, .types = 4, .channels = 1, .q = 120, .step = 0.004},
};

INSTANTIATE_TEST_SUITE_P(
    Cuda, EveryGpu,
    testing::Values(test::GpuMaker{"gpu",
                                   [](const Model& model) {
                                       return make_cuda_kernel(model, Precision::float32, on_gpu());
                                   },
                                   true},
                    test::GpuMaker{"gpu_multipoles",
                                   [](const Model& model) {
                                       return make_kernel(model, {.method = Method::multipole},
                                                          on_gpu());
                                   },
                                   true},
                    test::GpuMaker{"gpu_float64",
                                   [](const Model& model) {
                                       return make_cuda_kernel(model, Precision::float64, on_gpu());
                                   },
                                   true, Precision::float64}),
    test::maker_name);

TEST_P(EveryGpu, FindsTheFloat64Profiles) {
    for (const RandomShape& shape : kShapes) {
        if (is_too_slow(shape.scatterers * shape.frames)) continue;
        SCOPED_TRACE(std::to_string(shape.scatterers) + " scatterers, " + std::to_string(shape.q) +
                     " q");
        const RandomScatterers given = random_scatterers(shape);
        const Array<double, 3> expected =
            profiles_of(*make_cpu_kernel(given.model, Precision::float64, {}), given.model,
                        given.xyz, given.scales);
        const Array<double, 3> found =
            profiles_of(*make(given.model), given.model, given.xyz, given.scales);
        // What two channels give together may vanish at some q, where each alone does not.
        const Index channels = given.model.channel_count();
        for (Index frame = 0; frame < found.extent(0); ++frame)
            for (Index a = 0; a < channels; ++a)
                for (Index b = a; b < channels; ++b)
                    for (Index k = 0; k < found.extent(2); ++k) {
                        const auto alone = [&](Index channel) {
                            return expected(frame, channel_pair(channel, channel, channels), k);
                        };
                        const Index pair = channel_pair(a, b, channels);
                        ASSERT_NEAR(found(frame, pair, k), expected(frame, pair, k),
                                    tolerance() * std::sqrt(alone(a) * alone(b)))
                            << "frame " << frame << " channels " << a << ' ' << b << " q " << k;
                    }
    }
}

TEST_P(EveryGpu, FindsTheOraclesProfiles) {
    std::vector<test::Oracle> oracles = test::small_oracles();
    if (test::has_oracle()) oracles.push_back(test::all_atom("1XIB_4mer"));
    for (const test::Oracle& oracle : oracles) {
        if (is_too_slow(oracle.model.scatterer_count())) continue;
        const Array<double, 3> found = profiles_of(*make(oracle.model), oracle.model, oracle.xyz);
        EXPECT_LE(test::largest_error(found.view()[0][0], oracle.intensity), 1e-5);
    }
}

TEST_P(EveryGpu, AddsTheAmplitudesOfCoincidentScatterers) {
    RandomScatterers given = random_scatterers({.scatterers = 40, .types = 2, .q = 30});
    given.xyz.fill(-7.5f);
    const Array<double, 3> found = profiles_of(*make(given.model), given.model, given.xyz);
    for (Index k = 0; k < 30; ++k) {
        double sum = 0.0;
        for (const std::int32_t type : given.model.types) sum += given.model.factors(0, type, k);
        EXPECT_NEAR(found(0, 0, k) / (sum * sum), 1.0, 5e-5) << k;
    }
}

/// `count` carbons in frames of different extents, each a scatterer.
std::pair<Scatterers, Array<float, 3>> random_carbons(Index count, Index frames) {
    Scatterers scatterers;
    for (Index n = 0; n < count; ++n) {
        scatterers.types.push_back(0);
        scatterers.starts.push_back(n);
        scatterers.members.push_back(n);
        scatterers.masses.push_back(12);
        scatterers.radii.push_back(1.5 + 0.1 * static_cast<double>(n % 7));
    }
    scatterers.starts.push_back(count);
    Array<float, 3> xyz(frames, 3, count);
    std::mt19937 random(9);
    for (Index frame = 0; frame < frames; ++frame) {
        std::uniform_real_distribution<float> place(0, 20 + static_cast<float>(frame % 50));
        for (float& x : xyz[frame]) x = place(random);
        // Some at one place.
        for (Index n = 10; n < count; n += 10)
            for (Index axis = 0; axis < 3; ++axis) xyz(frame, axis, n) = xyz(frame, axis, n - 10);
    }
    return {std::move(scatterers), std::move(xyz)};
}

// Large frames take several blocks, small ones one.
TEST_F(CudaKernel, FindsTheHydrationLayersOfTheCpu) {
    for (const auto& [count, frames] : {std::pair{Index{3}, Index{64}}, {1500, 700}}) {
        const auto [scatterers, xyz] = random_carbons(count, frames);
        ASSERT_TRUE(finds_surfaces_on_gpu(frames, on_gpu()));
        const Array<float, 3> expected = hydration_layers(xyz, scatterers, {}),
                              found = hydration_layers(xyz, scatterers, on_gpu());
        ASSERT_TRUE(std::ranges::equal(found, expected)) << count;
    }
}

// Frames that are too few for a GPU need none.
TEST(CudaSurfaces, RefuseAMissingGpu) {
    Context context;
    context.device = {Device::Kind::cuda, 99};
    const auto [scatterers, xyz] = random_carbons(5, kMinFramesOnGpu);
    EXPECT_THROW(hydration_layers(xyz, scatterers, context), DeviceError);
    View<const float, 3> few = xyz;
    few.extents[0] = kMinFramesOnGpu - 1;
    EXPECT_NO_THROW(hydration_layers(few, scatterers, context));
    context.device = {};
    EXPECT_NO_THROW(hydration_layers(xyz, scatterers, context));
}

TEST_F(CudaKernel, CarriesSessionsOfManyChains) {
    const RandomScatterers given = random_scatterers(
        {.scatterers = 60, .types = 3, .channels = 2, .scaled = 1, .q = 40, .frames = 5});
    const std::vector<std::int32_t> bodies = two_bodies();
    ProfileSession session(given.model, given.xyz, given.scales, bodies, {.refresh = 50}, on_gpu());
    test::Sampler sampler(bodies, 3);
    for (int step = 0; step < 300; ++step) {
        std::vector<std::pair<std::vector<Index>, Array<float, 2>>> kept;
        for (Index chain = 0; chain < 5; ++chain)
            kept.push_back(sampler.move(session.positions(chain)));
        std::vector<Move> moves;
        for (Index chain = 0; chain < 5; ++chain)
            if ((step + chain) % 4 != 0)
                moves.push_back({chain, kept[static_cast<std::size_t>(chain)].first,
                                 kept[static_cast<std::size_t>(chain)].second});
        session.propose(moves);
        for (const Move& move : moves)
            if ((step + move.chain) % 3 == 0)
                session.accept(move.chain);
            else
                session.reject(move.chain);
    }
    const auto reference = make_cpu_kernel(given.model, Precision::float64, {});
    for (Index chain = 0; chain < 5; ++chain) {
        const Array<float, 2> xyz = session.positions(chain);
        const View<const float, 3> scales(given.scales.view()[chain].data, Index{1}, Index{1},
                                          Index{60});
        const Array<double, 3> expected =
            profiles_of(*reference, given.model,
                        View<const float, 3>(xyz.data(), Index{1}, Index{3}, Index{60}), scales);
        for (Index n = 0; n < expected.size(); ++n)
            ASSERT_NEAR(session.profile(chain).data[n] / expected.data()[n], 1.0, 1e-5);
    }
}

TEST_F(CudaKernel, KeepsASessionRightOverAHundredThousandMoves) {
    const RandomScatterers given = random_scatterers({.scatterers = 60, .types = 3, .q = 40});
    const std::vector<std::int32_t> bodies = two_bodies();
    ProfileSession session(given.model, given.xyz, {}, bodies, {.refresh = 0}, on_gpu());
    test::Sampler sampler(bodies, 6);
    for (int step = 0; step < 100000; ++step) {
        const auto [moved, xyz] = sampler.move(session.positions(0));
        const Move move{0, moved, xyz};
        session.propose({&move, 1});
        if (step % 2 == 0)
            session.reject(0);
        else
            session.accept(0);
    }
    const Array<float, 2> xyz = session.positions(0);
    const Array<double, 3> expected =
        profiles_of(*make_cpu_kernel(given.model, Precision::float64, {}), given.model,
                    View<const float, 3>(xyz.data(), Index{1}, Index{3}, Index{60}));
    for (Index n = 0; n < expected.size(); ++n)
        ASSERT_NEAR(session.profile(0).data[n] / expected.data()[n], 1.0, 1e-5) << n;
    EXPECT_LE(session.refresh(0), 1e-5);
}

// The input of calls of many jobs is copied by its own kernel, that of single jobs by the kernel
// that sums: neither may see the input of an earlier call.
TEST_F(CudaKernel, UsesTheInputOfEachCall) {
    const RandomShape shape{.scatterers = 8000, .types = 4, .q = 17, .frames = 7};
    const RandomScatterers given = random_scatterers(shape);
    const SortedScatterers sorted = sort_by_type(given.model);
    const auto gpu = make_cuda_body_pairs(given.model, sorted, Precision::float32, 0);
    const Array<double, 3> expected =
        profiles_of(*make_cpu_kernel(given.model, Precision::float64, {}), given.model, given.xyz);
    const Array<double, 2> self = self_profile(given.model, sorted, {});
    const auto compare = [&](Index first, Index count) {
        const Array<float, 3> sorted_xyz = sorted_positions(sorted, given.xyz, first, count);
        std::vector<PairJob> jobs;
        for (Index n = 0; n < count; ++n) jobs.push_back({static_cast<std::int32_t>(n), 0, 0});
        Array<double, 3> found(count, Index{1}, Index{17});
        gpu->evaluate(sorted_xyz, {}, jobs, found);
        for (Index n = 0; n < count; ++n)
            for (Index k = 0; k < 17; ++k)
                ASSERT_NEAR(found(n, 0, k) + self(0, k), expected(first + n, 0, k),
                            1e-5 * expected(first + n, 0, 0))
                    << "frame " << first + n << " q " << k;
    };
    // The input is so large that a kernel that does not wait for it sees that of an earlier call.
    for (Index n = 0; n < 40; ++n) {
        ASSERT_NO_FATAL_FAILURE(compare(0, 3));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ASSERT_NO_FATAL_FAILURE(compare(3 + n % 4, 1));
    }
}

TEST_F(CudaKernel, CarriesSessionsInFloat64) {
    const RandomScatterers given = random_scatterers(
        {.scatterers = 60, .types = 3, .channels = 2, .scaled = 1, .q = 40, .frames = 2});
    const std::vector<std::int32_t> bodies = two_bodies();
    ProfileSession session(given.model, given.xyz, given.scales, bodies,
                           {.precision = Precision::float64, .refresh = 0}, on_gpu());
    test::Sampler sampler(bodies, 3);
    for (int step = 0; step < 200; ++step) {
        const Index chain = step % 2;
        const auto [moved, xyz] = sampler.move(session.positions(chain));
        const Move move{chain, moved, xyz};
        session.propose({&move, 1});
        session.accept(chain);
    }
    for (Index chain = 0; chain < 2; ++chain) EXPECT_LE(session.refresh(chain), 1e-10);
}

TEST_F(CudaKernel, CarriesSessionsThatShareIt) {
    const test::SharedShape shapes[] = {
        {{.scatterers = 60, .types = 3, .q = 40, .frames = 70}, 3},
        {{.scatterers = 300, .types = 9, .q = 52, .first = 0.01, .frames = 4}, 5},
        {{.scatterers = 60, .types = 2, .q = 20, .even = false, .frames = 2}, 2},
        {{.scatterers = 500,
          .types = 6,
          .channels = 2,
          .scaled = 2,
          .q = 51,
          .shares_scales = true,
          .frames = 5},
         9}};
    for (const test::SharedShape& of : shapes) {
        const RandomScatterers given = random_scatterers(of.shape);
        const auto gpu = make_shared_gpu(given.model, of.body_of(), 0);
        ProfileSession session = test::shared_session(given, of.body_of(), gpu);
        test::expect_right_profiles(session, given);
        test::walk(session, of.body_of(), 100, 1);
        test::expect_right_profiles(session, given);
        for (Index chain = 0; chain < session.chain_count(); ++chain)
            EXPECT_LE(session.refresh(chain), 1e-5);
    }
}

// The sessions' kernel stays while there are requests, but leaves others their turn.
TEST_F(CudaKernel, ComputesOtherProfilesBesideSessions) {
    const test::SharedShape of{{.scatterers = 200, .types = 5, .q = 40, .frames = 3}, 4};
    const RandomScatterers given = random_scatterers(of.shape);
    const auto gpu = make_shared_gpu(given.model, of.body_of(), 0);
    std::atomic<bool> ends = false;
    std::vector<ProfileSession> sessions;
    sessions.reserve(2);
    for (int n = 0; n < 2; ++n) sessions.push_back(test::shared_session(given, of.body_of(), gpu));
    std::vector<std::jthread> walks;
    walks.reserve(sessions.size());
    for (ProfileSession& session : sessions)
        walks.emplace_back([&] {
            while (!ends) test::walk(session, of.body_of(), 10, 1);
        });
    for (int n = 0; n < 5; ++n) {
        const ProfileSession other = test::shared_session(given, of.body_of(), gpu);
        test::expect_right_profiles(other, given);
        const auto kernel = make_kernel(given.model, {}, on_gpu());
        const auto reference = make_cpu_kernel(given.model, Precision::float64, {});
        const Array<double, 3> found = profiles_of(*kernel, given.model, given.xyz, {}),
                               expected = profiles_of(*reference, given.model, given.xyz, {});
        for (Index k = 0; k < found.size(); ++k)
            EXPECT_NEAR(found.data()[k] / expected.data()[k], 1, 1e-5);
    }
    ends = true;
}

TEST_F(CudaKernel, GivesSessionsOnThreadsTheBitsOfEachAlone) {
    const test::SharedShape of{
        {.scatterers = 200, .types = 5, .channels = 2, .scaled = 1, .q = 40, .frames = 3}, 4};
    test::expect_bits_of_each_alone(
        of, make_shared_gpu(random_scatterers(of.shape).model, of.body_of(), 0), 12, 200);
}

// Even without a GPU.
TEST(Devices, RefuseMethodsThatTheyDoNotOffer) {
    const RandomScatterers given = random_scatterers({.scatterers = 3});
    Context reference;
    reference.device = {Device::Kind::reference, 0};
    const Options multipole{.method = Method::multipole};
    EXPECT_THROW(
        make_kernel(given.model, {.precision = Precision::float64, .method = Method::multipole},
                    on_gpu()),
        UsageError);
    EXPECT_THROW(make_kernel(given.model, multipole, reference), UsageError);
    EXPECT_NO_THROW(make_kernel(given.model, {.precision = Precision::float64}, reference));
}

}  // namespace
}  // namespace pleat::saxs
