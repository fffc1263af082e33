// Sessions that share a GPU, on the host in its place.
#include "pleat/core/tests/host_gpu.h"  // before the kernels

#include <gtest/gtest.h>

#include <array>

#include "pleat/saxs/cuda/chain_sums.cuh"
#include "shared_sessions.h"

namespace pleat::saxs {
namespace {

using pleat::test::HostGpu;
using pleat::test::HostGpuState;
using test::expect_right_profiles;
using test::random_scatterers;
using test::RandomScatterers;
using test::shared_session;
using test::SharedShape;
using test::walk;

std::shared_ptr<SharedGpu> make_on_host(const SharedShape& of, HostGpuState& state,
                                        Index max_sum_bytes = Index{1} << 20) {
    return std::make_shared<cuda::GpuOfSessions<HostGpu>>(
        random_scatterers(of.shape).model, of.body_of(), HostGpu(state), max_sum_bytes);
}

const SharedShape kShapes[] = {
    {{.scatterers = 40, .types = 3, .q = 20, .frames = 5}, 3},
    {{.scatterers = 31, .types = 2, .q = 52, .first = 0.01, .frames = 2}, 2},
    {{.scatterers = 30, .types = 2, .q = 20, .even = false, .frames = 2}, 2},
    {{.scatterers = 40, .types = 3, .channels = 2, .scaled = 1, .q = 20, .frames = 3}, 4},
    {{.scatterers = 40,
      .types = 3,
      .channels = 2,
      .scaled = 2,
      .q = 20,
      .shares_scales = true,
      .frames = 3},
     4},
};

TEST(SharedGpuOnHost, FollowsTheMovesOfItsSessions) {
    for (const SharedShape& of : kShapes) {
        SCOPED_TRACE(std::to_string(of.shape.scatterers) + " scatterers, " +
                     std::to_string(of.shape.q) + " q");
        const RandomScatterers given = random_scatterers(of.shape);
        HostGpuState state;
        {
            ProfileSession session = shared_session(given, of.body_of(), make_on_host(of, state));
            expect_right_profiles(session, given);
            walk(session, of.body_of(), 6, 1);
            expect_right_profiles(session, given);
            for (Index chain = 0; chain < session.chain_count(); ++chain)
                EXPECT_LE(session.refresh(chain), 1e-6);
            walk(session, of.body_of(), 2, 2);
            expect_right_profiles(session, given);
        }
        EXPECT_EQ(state.used_bytes, 0);
    }
}

// Scales above 1 need other units.
TEST(SharedGpuOnHost, KnowsLargeScales) {
    const SharedShape of{
        {.scatterers = 30, .types = 2, .channels = 2, .scaled = 1, .q = 20, .frames = 2}, 2};
    RandomScatterers given = random_scatterers(of.shape);
    for (float& scale : given.scales) scale *= 1000;
    HostGpuState state;
    ProfileSession session = shared_session(given, of.body_of(), make_on_host(of, state));
    walk(session, of.body_of(), 4, 1);
    expect_right_profiles(session, given);
}

// So little memory that each request sums two pairs of bodies.
TEST(SharedGpuOnHost, DividesWhatDoesNotFitIntoARequest) {
    const SharedShape of{{.scatterers = 40, .types = 3, .q = 20, .frames = 2}, 4};
    const RandomScatterers given = random_scatterers(of.shape);
    HostGpuState state;
    ProfileSession all = shared_session(given, of.body_of(), make_on_host(of, state)),
                   parts = shared_session(given, of.body_of(), make_on_host(of, state, 2 * 8 * 20));
    EXPECT_EQ(walk(parts, of.body_of(), 6, 1), walk(all, of.body_of(), 6, 1));
    expect_right_profiles(parts, given);
}

TEST(SharedGpuOnHost, ComputesManyMovesOfOneRequest) {
    const SharedShape of{{.scatterers = 12, .types = 2, .q = 17, .frames = 90}, 1};
    const RandomScatterers given = random_scatterers(of.shape);
    HostGpuState state;
    ProfileSession session = shared_session(given, of.body_of(), make_on_host(of, state));
    walk(session, of.body_of(), 1, 1);
    expect_right_profiles(session, given);
}

TEST(SharedGpuOnHost, GivesSessionsOnThreadsTheBitsOfEachAlone) {
    const SharedShape of{{.scatterers = 24, .types = 2, .q = 17, .frames = 2}, 3};
    HostGpuState state;
    test::expect_bits_of_each_alone(of, make_on_host(of, state), 4, 6);
}

// A CTA then has more tasks.
TEST(SharedGpuOnHost, SumsOfLargeBodiesDoNotDependOnTheNumberOfSessions) {
    const SharedShape of{{.scatterers = 400, .types = 2, .q = 3}, 1};
    const RandomScatterers given = random_scatterers(of.shape);
    HostGpuState state;
    const auto gpu = make_on_host(of, state);
    ProfileSession alone = shared_session(given, of.body_of(), gpu);
    const std::vector<double> expected = walk(alone, of.body_of(), 3, 1);
    std::vector<ProfileSession> others;
    for (int n = 0; n < 16; ++n) others.push_back(shared_session(given, of.body_of(), gpu));
    EXPECT_EQ(walk(others.back(), of.body_of(), 3, 1), expected);
}

// Slots of sessions that ended are used again.
TEST(SharedGpuOnHost, RefusesMoreSessionsThanItsKernelSees) {
    const SharedShape of{{.scatterers = 4, .types = 1, .q = 3}, 1};
    const RandomScatterers given = random_scatterers(of.shape);
    HostGpuState state;
    const auto gpu = make_on_host(of, state);
    std::vector<ProfileSession> sessions;
    for (int n = 0; n < cuda::kMaxSlots; ++n)
        sessions.push_back(shared_session(given, of.body_of(), gpu));
    EXPECT_THROW(shared_session(given, of.body_of(), gpu), UsageError);
    for (int n = 0; n < 2; ++n) sessions.pop_back();
    for (int n = 0; n < 2; ++n) sessions.push_back(shared_session(given, of.body_of(), gpu));
    EXPECT_THROW(shared_session(given, of.body_of(), gpu), UsageError);
    for (ProfileSession& session : sessions) walk(session, of.body_of(), 1, 1);
    expect_right_profiles(sessions.back(), given);
}

TEST(SharedGpuOnHost, RefusesOtherModelsAndBodies) {
    const SharedShape of{{.scatterers = 24, .types = 2, .q = 17}, 3},
        more{{.scatterers = 24, .types = 2, .q = 17}, 4},
        other{{.scatterers = 24, .types = 2, .q = 17, .seed = 2}, 3};
    HostGpuState state;
    const auto gpu = make_on_host(of, state);
    const RandomScatterers given = random_scatterers(of.shape);
    EXPECT_THROW(shared_session(given, more.body_of(), gpu), UsageError);
    EXPECT_THROW(shared_session(random_scatterers(other.shape), of.body_of(), gpu), UsageError);
}

// What does not fit is told to every session, at once and later; none waits forever.
TEST(SharedGpuOnHost, TellsEverySessionThatTheGpuFailed) {
    const SharedShape of{{.scatterers = 24, .types = 2, .q = 17}, 3};
    const RandomScatterers given = random_scatterers(of.shape);
    HostGpuState state;
    const auto gpu = make_on_host(of, state);
    ProfileSession session = shared_session(given, of.body_of(), gpu),
                   other = shared_session(given, of.body_of(), gpu);
    state.shared_bytes = 0;  // no kernel that sums can be launched
    test::Sampler sampler(of.body_of(), 1);
    for (ProfileSession* const one : {&session, &other, &session}) {
        const auto [moved, xyz] = sampler.move(one->positions(0));
        const Move move{0, moved, xyz};
        EXPECT_THROW(one->propose({&move, 1}), std::logic_error);
        one->start({&move, 1});
        EXPECT_THROW(one->finish(), std::logic_error);
    }
}

}  // namespace
}  // namespace pleat::saxs
