// Pools ahead: chains of a made peptide and a curve, moved by different numbers of threads.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "pleat/workflows/refine/fit/curve_fit.h"
#include "pleat/workflows/refine/sampling/pool.h"
#include "pleat/workflows/refine/tests/made_chain.h"
#include "pleat/workflows/refine/tests/made_hinge.h"

namespace pleat::refine::test {

/// Two strands on a linker that may be close to itself, and the curve of one of their
/// conformations.
struct MadePool {
    ChainModel chain = made_model("AAAAAAGAVAGAAAAAAA", "A:6-13");
    Prior prior{chain, coil_tables()};
    Moves moves{chain, prior};
    ProfileModel profile = make_profile_model(chain, Conformation(chain), grid(17, 0.3), {});
    CurveLikelihood likelihood{curve(), grid(17, 0.3), {.c2 = {0, 1, 2}}};
    Device device;  ///< of profiles

    Profile curve() const {
        ProfileBatch batch(profile, 1, Device{});
        Conformation at(chain);
        at.set_angles(find_start(chain, moves, {}, 1, 1000));
        batch.start(0, at);
        Profile made;
        made.q = grid(17, 0.3);
        for (Index k = 0; k < 17; ++k) {
            made.intensity.push_back(batch.profile(0)(0, k) + batch.profile(0)(1, k));
            made.sigma.push_back(0.02 * made.intensity.back());
        }
        return made;
    }
    TargetBatch make_targets(Index walkers, Index replicas) const {
        const auto profiles = std::make_shared<ProfileBatch>(profile, walkers * replicas, device);
        TargetBatch targets;
        for (Index n = 0; n < walkers; ++n) {
            const auto mean = std::make_shared<ReplicaMean>(likelihood, replicas);
            for (Index replica = 0; replica < replicas; ++replica)
                targets.push_back(std::make_unique<CurveTarget>(
                    chain, profiles, n * replicas + replica, mean, replica));
        }
        return targets;
    }
    Pool sample(const PoolOptions& options, const Context& context) const {
        return sample_pool(
            chain, moves,
            [&](Index walkers, Index replicas) { return make_targets(walkers, replicas); }, options,
            "made pool", context);
    }
};

inline Context on_threads(int threads) {
    Context context;
    context.seed = 5;
    context.threads = threads;
    return context;
}

inline void expect_same_pools(const Pool& one, const Pool& other) {
    const auto values = [](const Array<double, 3>& all) {
        return std::vector<double>(all.begin(), all.end());
    };
    EXPECT_EQ(values(one.angles), values(other.angles));
    EXPECT_EQ(values(one.fits), values(other.fits));
    EXPECT_EQ(one.proposed, other.proposed);
    EXPECT_EQ(one.accepted, other.accepted);
    EXPECT_EQ(one.ladder.betas, other.ladder.betas);
    EXPECT_EQ(one.ladder.sums, other.ladder.sums);
}

}  // namespace pleat::refine::test
