// Sessions: proposals, acceptance and rejection against profiles found afresh.
#include "pleat/saxs/session/profile_session.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "every_kernel.h"
#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "random_model.h"
#include "turns.h"

namespace pleat::saxs {
namespace {

using test::profiles_of;
using test::random_scatterers;
using test::RandomScatterers;
using test::RandomShape;
using test::Sampler;

const RandomShape kChain{.scatterers = 60, .types = 3, .q = 40, .step = 0.012};

std::vector<std::int32_t> two_bodies(Index count) {
    std::vector<std::int32_t> bodies;
    for (Index i = 0; i < count; ++i) bodies.push_back(i < 2 * count / 5 ? 0 : 1);
    return bodies;
}

std::vector<Index> scatterers_of(const std::vector<std::int32_t>& bodies, std::int32_t body) {
    std::vector<Index> result;
    for (std::size_t i = 0; i < bodies.size(); ++i)
        if (bodies[i] == body) result.push_back(static_cast<Index>(i));
    return result;
}

/// By the float64 kernel.
Array<double, 3> fresh(const Model& model, const Array<float, 2>& xyz,
                       View<const float, 3> scales) {
    Context context;
    context.threads = 1;
    const View<const float, 3> frame(xyz.data(), Index{1}, Index{3}, xyz.extent(1));
    return profiles_of(*make_cpu_kernel(model, Precision::float64, context), model, frame, scales);
}

void expect_profile(View<const double, 2> found, View<const double, 2> expected, double tolerance) {
    for (Index n = 0; n < found.size(); ++n)
        ASSERT_NEAR(found.data[n] / expected.data[n], 1.0, tolerance) << n;
}

void expect_same(View<const double, 2> found, const std::vector<double>& expected) {
    for (Index n = 0; n < found.size(); ++n)
        ASSERT_EQ(found.data[n], expected[static_cast<std::size_t>(n)]) << n;
}

std::vector<double> copy(View<const double, 2> from) { return {from.begin(), from.end()}; }

Context one_thread() {
    Context context;
    context.threads = 1;
    return context;
}

TEST(ProfileSession, StartsWithTheProfileOfItsPositions) {
    const RandomScatterers given = random_scatterers(kChain);
    const ProfileSession session(given.model, given.xyz, {}, two_bodies(60), {}, one_thread());
    expect_profile(session.profile(0), fresh(given.model, session.positions(0), {}).view()[0],
                   2e-6);
    EXPECT_EQ(session.drift(), 0.0);
}

/// Random moves of every kind, with every second one rejected.
void walk(ProfileSession& session, Sampler& sampler, Index moves) {
    for (Index n = 0; n < moves; ++n) {
        const Array<float, 2> now = session.positions(0);
        const std::vector<double> before = copy(session.profile(0));
        const auto [moved, xyz] = sampler.move(now);
        const Move move{0, moved, xyz};
        const std::vector<double> proposed = copy(session.propose({&move, 1})[0]);
        expect_same(session.profile(0), before);
        if (n % 2 == 0) {
            session.reject(0);
            expect_same(session.profile(0), before);
        } else {
            session.accept(0);
            if (session.drift() == 0.0) expect_same(session.profile(0), proposed);
        }
    }
}

TEST(ProfileSession, KeepsItsProfileRightOverManyMoves) {
    RandomShape shape = kChain;
    shape.channels = 2;
    shape.scaled = 1;
    const RandomScatterers given = random_scatterers(shape);
    for (const Index refresh : {Index{0}, Index{70}}) {
        ProfileSessionOptions options;
        options.refresh = refresh;
        ProfileSession session(given.model, given.xyz, given.scales, two_bodies(60), options,
                               one_thread());
        Sampler sampler(two_bodies(60), 5);
        walk(session, sampler, 400);
        expect_profile(session.profile(0),
                       fresh(given.model, session.positions(0), given.scales).view()[0], 1e-5);
        EXPECT_LE(session.refresh(0), 1e-5);
        EXPECT_EQ(session.drift() > 0.0, true);
    }
}

TEST(ProfileSession, KeepsItsProfileRightOverAHundredThousandMoves) {
    const RandomScatterers given = random_scatterers(kChain);
    ProfileSession session(given.model, given.xyz, {}, two_bodies(60), {}, one_thread());
    Sampler sampler(two_bodies(60), 6);
    walk(session, sampler, 100000);
    expect_profile(session.profile(0), fresh(given.model, session.positions(0), {}).view()[0],
                   1e-5);
    EXPECT_LE(session.drift(), 1e-5);
}

TEST(ProfileSession, RecomputesWhatARigidMoveChanges) {
    const RandomScatterers given = random_scatterers(kChain);
    const std::vector<std::int32_t> bodies = two_bodies(60);
    ProfileSession session(given.model, given.xyz, {}, bodies, {}, one_thread());
    Sampler sampler(bodies, 7);
    const auto propose = [&](const std::vector<Index>& moved, const Array<float, 2>& xyz) {
        const Move move{0, moved, xyz};
        session.propose({&move, 1});
        return session.recomputed_pairs();
    };
    const std::vector<Index> first = scatterers_of(bodies, 0);
    EXPECT_EQ(propose(first, sampler.turned(session.positions(0), first)), 1);
    std::vector<Index> all(60);
    std::iota(all.begin(), all.end(), Index{0});
    EXPECT_EQ(propose(all, sampler.turned(session.positions(0), all)), 0);
    const std::vector<Index> one{3};
    Array<float, 2> place(Index{3}, Index{1});
    EXPECT_EQ(propose(one, place), 2);
    EXPECT_EQ(propose({}, Array<float, 2>(Index{3}, Index{0})), 0);
}

TEST(ProfileSession, TellsRigidFromBentMoves) {
    const RandomScatterers given = random_scatterers(kChain);
    const std::vector<std::int32_t> bodies = two_bodies(60);
    ProfileSession session(given.model, given.xyz, {}, bodies, {}, one_thread());
    Sampler sampler(bodies, 8);
    const std::vector<Index> first = scatterers_of(bodies, 0);
    Array<float, 2> xyz = sampler.turned(session.positions(0), first);
    xyz(1, 4) += 0.01f;
    const Move bent{0, first, xyz};
    session.propose({&bent, 1});
    EXPECT_EQ(session.recomputed_pairs(), 2);
    for (Index n = 0; n < xyz.extent(1); ++n) xyz(0, n) = -xyz(0, n);  // a mirror image
    const Move mirrored{0, first, xyz};
    session.propose({&mirrored, 1});
    EXPECT_EQ(session.recomputed_pairs(), 2);
}

TEST(ProfileSession, ComputesChainsTogetherAsAlone) {
    RandomShape shape = kChain;
    shape.frames = 4;
    const RandomScatterers given = random_scatterers(shape);
    const std::vector<std::int32_t> bodies = two_bodies(60);
    ProfileSession together(given.model, given.xyz, {}, bodies, {}, one_thread());
    Sampler sampler(bodies, 9);
    std::vector<std::pair<std::vector<Index>, Array<float, 2>>> kept;
    for (Index chain = 0; chain < 4; ++chain)
        kept.push_back(sampler.move(together.positions(chain)));
    std::vector<Move> moves;
    for (const Index chain : {2, 0, 3}) {
        const auto& [moved, xyz] = kept[static_cast<std::size_t>(chain)];
        moves.push_back({chain, moved, xyz});
    }
    const View<const double, 3> proposed = together.propose(moves);
    for (std::size_t n = 0; n < moves.size(); ++n) {
        const View<const float, 3> start(given.xyz.view()[moves[n].chain].data, Index{1}, Index{3},
                                         Index{60});
        ProfileSession alone(given.model, start, {}, bodies, {}, one_thread());
        const Move move{0, moves[n].scatterers, moves[n].xyz};
        expect_same(proposed[static_cast<Index>(n)], copy(alone.propose({&move, 1})[0]));
    }
}

// Sums of all pairs of bodies take 100 MB, and what finds them little more; with all of it found at
// a time it took nine times that. In a process of its own, whose peak starts anew.
TEST(ProfileSession, TakesLittleMoreMemoryThanItsSums) {
    constexpr std::int64_t kMax = 550'000'000;
    const auto begin = [] {
        const RandomScatterers given = random_scatterers(
            {.scatterers = 640, .types = 20, .channels = 2, .q = 2000, .step = 0.0005});
        std::vector<std::int32_t> bodies(640);
        for (std::size_t i = 0; i < bodies.size(); ++i)
            bodies[i] = static_cast<std::int32_t>(i / 10);
        const std::int64_t before = peak_memory();
        const ProfileSession session(given.model, given.xyz, {}, bodies, {}, one_thread());
        const double forward_intensity = session.profile(0)(0, 0);
        std::exit(forward_intensity > 0 && peak_memory() - before < kMax ? 0 : 1);
    };
    EXPECT_EXIT(begin(), ::testing::ExitedWithCode(0), "");
}

TEST(ProfileSession, DividesScatterersWhereNoBodiesAreNamed) {
    RandomShape shape = kChain;
    shape.scatterers = 200;
    shape.types = 1;
    const RandomScatterers given = random_scatterers(shape);
    ProfileSession session(given.model, given.xyz, {}, {}, {}, one_thread());
    const std::vector<Index> one{100};
    Array<float, 2> xyz(Index{3}, Index{1});
    const Move move{0, one, xyz};
    const std::vector<double> proposed = copy(session.propose({&move, 1})[0]);
    EXPECT_GT(session.recomputed_pairs(), 1);
    session.accept(0);
    expect_same(session.profile(0), proposed);
    expect_profile(session.profile(0), fresh(given.model, session.positions(0), {}).view()[0],
                   2e-6);
}

TEST(ProfileSession, InFloat64HasNoDrift) {
    const RandomScatterers given = random_scatterers(kChain);
    std::vector<std::int32_t> bodies(60, 1);
    std::fill_n(bodies.begin(), 24, 0);
    ProfileSession session(given.model, given.xyz, {}, bodies,
                           {.precision = Precision::float64, .refresh = 0}, one_thread());
    test::Sampler sampler(bodies, 8);
    for (int step = 0; step < 500; ++step) {
        const auto [moved, xyz] = sampler.move(session.positions(0));
        const Move move{0, moved, xyz};
        session.propose({&move, 1});
        session.accept(0);
    }
    EXPECT_LE(session.refresh(0), 1e-12);
}

TEST(ProfileSession, GivesTheGradientOfChiSquare) {
    const RandomScatterers given = random_scatterers(kChain);
    ProfileSession session(given.model, given.xyz, {}, {}, {Precision::float64}, one_thread());
    std::vector<double> intensity, sigma;
    const View<const double, 2> profile = session.profile(0);
    for (Index k = 0; k < profile.extent(1); ++k) {
        intensity.push_back(profile(0, k) * (1.5 + 0.3 * std::sin(0.7 * static_cast<double>(k))));
        sigma.push_back(0.05 * profile(0, k));
    }
    const std::vector<double> weight{1.0};
    const auto smallest = [&](const Array<float, 2>& xyz) {
        const Array<double, 3> partial = fresh(given.model, xyz, {});
        return fit_scale(combine(partial.view()[0], weight), intensity, sigma).chi_square;
    };
    const double scale = fit_scale(combine(profile, weight), intensity, sigma).scale;
    Array<double, 2> gradient(Index{3}, Index{60});
    session.gradient(0, chi_square_weights(profile, weight, intensity, sigma, scale), gradient);
    for (const Index i : {0, 17, 59}) {
        for (Index axis = 0; axis < 3; ++axis) {
            Array<float, 2> plus = session.positions(0), minus = plus;
            plus(axis, i) += 0.01f;
            minus(axis, i) -= 0.01f;
            const double step = double{plus(axis, i)} - double{minus(axis, i)};
            EXPECT_NEAR(gradient(axis, i), (smallest(plus) - smallest(minus)) / step,
                        1e-3 * std::fabs(gradient(axis, i)) + 1e-2);
        }
    }
}

TEST(ProfileSession, FinishesWhatWasStarted) {
    const RandomScatterers given = random_scatterers(kChain);
    ProfileSession session(given.model, given.xyz, {}, two_bodies(60), {}, one_thread()),
        other(given.model, given.xyz, {}, two_bodies(60), {}, one_thread());
    Sampler sampler(two_bodies(60), 8);
    for (int step = 0; step < 6; ++step) {
        const auto [moved, xyz] = sampler.move(session.positions(0));
        const Move move{0, moved, xyz};
        const std::vector<double> expected = copy(other.propose({&move, 1})[0]);
        other.accept(0);
        session.start({&move, 1});
        if (step % 2 == 0) expect_same(session.finish()[0], expected);
        session.accept(0);  // which finishes first
        expect_same(session.profile(0), expected);
    }
}

TEST(ProfileSession, RefusesInvalidBodiesChainsAndMoves) {
    const RandomScatterers given = random_scatterers(kChain);
    EXPECT_THROW(ProfileSession(given.model, given.xyz, {}, std::vector<std::int32_t>(59), {}, {}),
                 UsageError);
    EXPECT_THROW(
        ProfileSession(given.model, given.xyz, {}, std::vector<std::int32_t>(60, -1), {}, {}),
        UsageError);
    ProfileSession session(given.model, given.xyz, {}, {}, {}, one_thread());
    EXPECT_THROW(session.accept(0), UsageError);
    EXPECT_THROW(session.finish(), UsageError);
    Array<float, 2> xyz(Index{3}, Index{1});
    const std::vector<Index> wrong{60}, right{1};
    const auto propose = [&](Index chain, const std::vector<Index>& moved) {
        const Move move{chain, moved, xyz};
        session.propose({&move, 1});
    };
    EXPECT_THROW(propose(0, wrong), UsageError);
    EXPECT_THROW(propose(1, right), UsageError);
    const Move move{0, right, xyz}, twice[] = {move, move};
    EXPECT_THROW(session.propose(twice), UsageError);
    xyz(0, 0) = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THROW(propose(0, right), InputError);
    xyz(0, 0) = 0.0f;
    propose(0, right);  // a refused move left nothing behind
    session.accept(0);
    expect_profile(session.profile(0), fresh(given.model, session.positions(0), {}).view()[0],
                   2e-6);
    EXPECT_THROW(session.profile(1), UsageError);
    EXPECT_THROW(session.reject(-1), UsageError);
    const Array<double, 2> weight(Index{1}, Index{3});
    Array<double, 2> gradient(Index{3}, Index{60});
    EXPECT_THROW(session.gradient(0, weight, gradient), UsageError);
}

// The first chain's move is valid, and must be dropped with the second chain's.
TEST(ProfileSession, DropsEveryMoveOfABatchThatFails) {
    RandomShape shape = kChain;
    shape.frames = 2;
    const RandomScatterers given = random_scatterers(shape);
    ProfileSession session(given.model, given.xyz, {}, two_bodies(60), {}, one_thread());
    Sampler sampler(two_bodies(60), 11);
    const std::vector<double> before = copy(session.profile(0));
    const Array<float, 2> positions = session.positions(0);
    const auto [moved, xyz] = sampler.move(positions);
    Array<float, 2> broken = xyz;
    broken(2, 0) = std::numeric_limits<float>::quiet_NaN();
    const std::vector<Index> none{60};
    const Move sound{0, moved, xyz};
    const Move second[] = {
        {1, moved, broken}, {1, none, Array<float, 2>(Index{3}, Index{1})}, sound};
    for (const Move& bad : second) {
        const Move both[] = {sound, bad};
        EXPECT_THROW(session.propose(both), Error);
        EXPECT_THROW(session.accept(0), UsageError);
        EXPECT_THROW(session.accept(1), UsageError);
        expect_same(session.profile(0), before);
        const Array<float, 2> after = session.positions(0);
        EXPECT_TRUE(std::equal(after.begin(), after.end(), positions.begin()));
    }
    const std::vector<double> proposed = copy(session.propose({&sound, 1})[0]);
    session.accept(0);
    expect_same(session.profile(0), proposed);
    expect_profile(session.profile(0), fresh(given.model, session.positions(0), {}).view()[0],
                   2e-6);
}

}  // namespace
}  // namespace pleat::saxs
