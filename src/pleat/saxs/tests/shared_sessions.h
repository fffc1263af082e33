// Shared sessions: walks of sessions that share a GPU, for a real one and for its emulation.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "every_kernel.h"
#include "pleat/core/error.h"
#include "pleat/saxs/session/profile_session.h"
#include "pleat/saxs/session/session_sums.h"
#include "random_model.h"
#include "turns.h"

namespace pleat::saxs::test {

/// Random scatterers in bodies of consecutive ones.
struct SharedShape {
    RandomShape shape;
    Index bodies = 3;

    std::vector<std::int32_t> body_of() const {
        std::vector<std::int32_t> all;
        for (Index i = 0; i < shape.scatterers; ++i)
            all.push_back(static_cast<std::int32_t>(i * bodies / shape.scatterers));
        return all;
    }
};

/// A session of a GPU that others share, one chain per frame.
inline ProfileSession shared_session(const RandomScatterers& given,
                                     const std::vector<std::int32_t>& bodies,
                                     const std::shared_ptr<SharedGpu>& gpu) {
    return {given.model, given.xyz, given.scales, bodies, {.refresh = 0, .gpu = gpu}, Context{}};
}

/// Proposals of all chains but one in turn, of which a third are accepted. Returns all profiles
/// that were proposed. The state must follow what was accepted, and nothing else.
inline std::vector<double> walk(ProfileSession& session, const std::vector<std::int32_t>& bodies,
                                int steps, std::uint64_t seed) {
    Sampler sampler(bodies, seed);
    std::vector<double> seen;
    for (int step = 0; step < steps; ++step) {
        std::vector<std::pair<std::vector<Index>, Array<float, 2>>> kept;
        for (Index chain = 0; chain < session.chain_count(); ++chain)
            kept.push_back(sampler.move(session.positions(chain)));
        std::vector<Move> moves;
        for (Index chain = 0; chain < session.chain_count(); ++chain)
            if (session.chain_count() == 1 || (step + chain) % 4 != 0)
                moves.push_back({chain, kept[static_cast<std::size_t>(chain)].first,
                                 kept[static_cast<std::size_t>(chain)].second});
        const View<const double, 3> proposed = session.propose(moves);
        seen.insert(seen.end(), proposed.begin(), proposed.end());
        for (std::size_t n = 0; n < moves.size(); ++n) {
            const Index chain = moves[n].chain;
            const View<const double, 2> profile = session.profile(chain);
            const std::vector<double> before(profile.begin(), profile.end());
            const View<const double, 2> next = proposed[static_cast<Index>(n)];
            const bool accepts = (step + chain) % 3 == 0;
            if (accepts)
                session.accept(chain);
            else
                session.reject(chain);
            for (Index k = 0; k < profile.size(); ++k)
                EXPECT_EQ(session.profile(chain).data[k],
                          accepts ? next.data[k] : before[static_cast<std::size_t>(k)]);
        }
    }
    return seen;
}

/// All chains against float64 sums over their positions.
inline void expect_right_profiles(const ProfileSession& session, const RandomScatterers& given) {
    const auto reference = make_cpu_kernel(given.model, Precision::float64, {});
    const Index channels = given.model.channel_count();
    for (Index chain = 0; chain < session.chain_count(); ++chain) {
        const Array<float, 2> xyz = session.positions(chain);
        const View<const float, 3> scales(given.scales.view()[chain].data, Index{1},
                                          given.scales.extent(1), given.scales.extent(2));
        const Array<double, 3> expected =
            profiles_of(*reference, given.model,
                        View<const float, 3>(xyz.data(), Index{1}, Index{3}, xyz.extent(1)),
                        given.scales.size() > 0 ? scales : View<const float, 3>{});
        // What two channels give together may vanish at some q, where each alone does not.
        for (Index a = 0; a < channels; ++a)
            for (Index b = a; b < channels; ++b)
                for (Index k = 0; k < given.model.q_count(); ++k) {
                    const double alone = expected(0, channel_pair(a, a, channels), k) *
                                         expected(0, channel_pair(b, b, channels), k);
                    const Index pair = channel_pair(a, b, channels);
                    ASSERT_NEAR(session.profile(chain)(pair, k), expected(0, pair, k),
                                1e-5 * std::sqrt(alone))
                        << "chain " << chain << " channels " << a << ' ' << b << " q " << k;
                }
    }
}

/// Sessions on threads of their own have the bits of each alone.
inline void expect_bits_of_each_alone(const SharedShape& of, const std::shared_ptr<SharedGpu>& gpu,
                                      int threads, int steps) {
    const RandomScatterers given = random_scatterers(of.shape);
    const std::vector<std::int32_t> bodies = of.body_of();
    std::vector<std::vector<double>> alone, together(static_cast<std::size_t>(threads));
    for (int n = 0; n < threads; ++n) {
        ProfileSession session = shared_session(given, bodies, gpu);
        alone.push_back(walk(session, bodies, steps, static_cast<std::uint64_t>(n)));
    }
    std::vector<ProfileSession> sessions;
    sessions.reserve(static_cast<std::size_t>(threads));
    for (int n = 0; n < threads; ++n) sessions.push_back(shared_session(given, bodies, gpu));
    {
        std::vector<std::jthread> walks;
        for (std::size_t n = 0; n < sessions.size(); ++n)
            walks.emplace_back([&, n] { together[n] = walk(sessions[n], bodies, steps, n); });
    }
    EXPECT_EQ(together, alone);
}

}  // namespace pleat::saxs::test
