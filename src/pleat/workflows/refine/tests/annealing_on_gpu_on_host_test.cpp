// Annealing with the profiles of a GPU, on the host in its place.
#include "pleat/core/tests/host_gpu.h"  // before the kernels

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "pleat/saxs/cuda/chain_sums.cuh"
#include "pleat/workflows/refine/fit/curve_fit.h"
#include "pleat/workflows/refine/sampling/annealing.h"
#include "pleat/workflows/refine/tests/made_chain.h"
#include "pleat/workflows/refine/tests/made_hinge.h"

namespace pleat::refine {

namespace {

using pleat::test::HostGpu;
using pleat::test::HostGpuState;

// Sessions restart between powers: the bits depend neither on what they computed before nor on who
// is beside them, and profiles are those of the CPU but for rounding.
TEST(AnnealingOnGpuOnHost, HasTheSameBitsHoweverThreadsAndCallsDivideThem) {
    HostGpuState state;
    {
        const ChainModel chain = test::made_model("AAAAAAGAVAGAAAAAAA", "A:6-13");
        const Prior prior(chain, coil_tables());
        const Moves moves(chain, prior);
        const std::vector<double> q = test::grid(17, 0.3);
        ProfileModel profile = make_profile_model(chain, Conformation(chain), q, {});
        Profile curve;
        curve.q = q;
        ProfileBatch one(profile, 1, Device{});
        Conformation truth(chain);
        truth.set_angles(find_start(chain, moves, {}, 1, 1000));
        one.start(0, truth);
        for (Index k = 0; k < 17; ++k) {
            curve.intensity.push_back(one.profile(0)(0, k) + one.profile(0)(1, k));
            curve.sigma.push_back(0.5 * curve.intensity.back());
        }
        const CurveLikelihood likelihood(curve, q, {.c2 = {0, 1, 2}});
        profile.gpu = std::make_shared<saxs::cuda::GpuOfSessions<HostGpu>>(
            profile.model, profile.bodies, HostGpu(state));
        const auto make_targets = [&](Index count) {
            const auto profiles =
                std::make_shared<ProfileBatch>(profile, count, Device{Device::Kind::cuda, 0});
            TargetBatch targets;
            for (Index n = 0; n < count; ++n)
                targets.push_back(std::make_unique<CurveTarget>(chain, profiles, n, likelihood));
            return targets;
        };
        std::vector<double> first;
        for (const auto& [threads, together, in_turn] :
             std::vector<std::array<int, 3>>{{1, 1, 1}, {2, 3, 2}}) {
            Context context;
            context.threads = threads;
            const Posterior found = anneal(
                chain, moves, make_targets,
                {.conformations = 8,
                 .lineages = 4,
                 .moves = 2,
                 .together = together,
                 .in_turn = in_turn},
                [](const Posterior&) { return true; }, "on a GPU", context);
            std::vector<double> all(found.angles.begin(), found.angles.end());
            all.insert(all.end(), found.fits.begin(), found.fits.end());
            if (first.empty()) first = all;
            EXPECT_EQ(all, first) << together << " together";
            Conformation at(chain);
            for (Index n = 0; n < 8; ++n) {
                const double* const angles = &found.angles(n, 0);
                at.set_angles({angles, angles + chain.hinge_count()});
                one.start(0, at);
                EXPECT_NEAR(found.fits(n, kLogLikelihood),
                            likelihood.log_likelihood(one.profile(0)), 1e-3);
            }
        }
    }
    EXPECT_EQ(state.used_bytes, 0);
}

}  // namespace

}  // namespace pleat::refine
