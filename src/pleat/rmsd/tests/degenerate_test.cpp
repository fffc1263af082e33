// Every kernel against known RMSD of degenerate ensembles and real trajectories.
#include <gtest/gtest.h>

#include "pleat/rmsd/tests/every_kernel.h"
#include "pleat/rmsd/tests/oracle_frames.h"

namespace pleat::rmsd {
namespace {

TEST(Degenerate, EveryClassIsRightOnEveryKernel) {
    for (const test::OracleFrames& oracle : test::degenerate_ensembles()) {
        test::with_every_kernel(oracle.frames,
                                [&](const std::string& kernel, const std::vector<float>& found) {
                                    test::expect_oracle(oracle, found, kernel);
                                });
    }
}

TEST(Degenerate, IsRightOnRealTrajectories) {
    for (const test::OracleFrames& oracle : test::trajectories()) {
        SCOPED_TRACE(oracle.name);
        for (const FitPrecision precision : {FitPrecision::mixed, FitPrecision::float64}) {
            const double worst =
                test::worst_error(test::cpu_pairs(oracle.frames, precision), oracle.truth);
            // Float32 itself rounds a result of 8 angstrom by 5e-7.
            EXPECT_LE(worst, precision == FitPrecision::mixed ? 1e-5 : 1.5e-6);
        }
    }
}

}  // namespace
}  // namespace pleat::rmsd
