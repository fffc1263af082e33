// Pools whose profiles are those of a GPU, on the host in its place.
#include "pleat/core/tests/host_gpu.h"  // before the kernels

#include <gtest/gtest.h>

#include "pleat/saxs/cuda/chain_sums.cuh"
#include "pleat/workflows/refine/tests/pools_ahead.h"

namespace pleat::refine {

namespace {

using pleat::test::HostGpu;
using pleat::test::HostGpuState;
using test::expect_same_pools;
using test::MadePool;
using test::on_threads;

TEST(PoolOnGpuOnHost, HasTheBitsOfOneThreadForAnySteps) {
    HostGpuState state;
    {
        MadePool made;
        made.profile.gpu = std::make_shared<saxs::cuda::GpuOfSessions<HostGpu>>(
            made.profile.model, made.profile.bodies, HostGpu(state));
        made.device = {Device::Kind::cuda, 0};
        for (PoolOptions options :
             {PoolOptions{.chains = 1, .moves = 8, .burn_in = 1, .kept = 2},
              {.chains = 1, .rungs = 2, .replicas = 2, .moves = 4, .burn_in = 1, .kept = 1}}) {
            const Pool expected = made.sample(options, on_threads(1));
            EXPECT_GT(expected.accepted[0] + expected.accepted[1] + expected.accepted[2], 0);
            options.ahead = 4;
            for (const bool few_moves : {false, true}) {
                options.few_moves = few_moves;
                const Pool pool = made.sample(options, on_threads(7));
                expect_same_pools(pool, expected);
                EXPECT_GT(pool.dropped, 0);
            }
        }
    }
    EXPECT_EQ(state.used_bytes, 0);
}

}  // namespace

}  // namespace pleat::refine
