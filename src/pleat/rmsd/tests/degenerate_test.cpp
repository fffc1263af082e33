// Every kernel against the oracle's degenerate ensembles and a real trajectory.
#include <gtest/gtest.h>

#include "pleat/rmsd/tests/every_kernel.h"
#include "pleat/rmsd/tests/oracle_frames.h"

namespace pleat::rmsd {
namespace {

TEST(Degenerate, EveryClassIsRightOnEveryKernel) {
    const std::vector<std::string> names = test::degenerate_cases();
    if (names.empty()) GTEST_SKIP() << "no oracle in " << test::oracle_folder();
    for (const std::string& name : names) {
        const Frames frames = test::read_frames(test::oracle_folder() / (name + "_xyz.npy"));
        test::with_every_kernel(frames,
                                [&](const std::string& kernel, const std::vector<float>& found) {
                                    test::expect_oracle(name, found, kernel);
                                });
    }
}

TEST(Degenerate, IsRightOnARealTrajectory) {
    if (!std::filesystem::exists(test::trajectory())) GTEST_SKIP() << "no " << test::trajectory();
    const Frames frames = test::read_frames(test::trajectory(), 1000);
    const std::vector<double> truth = test::trajectory_truth();
    for (const Precision precision : {Precision::mixed, Precision::float64}) {
        const double worst = test::worst_error(test::cpu_pairs(frames, precision), truth);
        // Float32 itself rounds a result of 8 angstrom by 5e-7.
        EXPECT_LE(worst, precision == Precision::mixed ? 1e-5 : 1.5e-6);
    }
}

}  // namespace
}  // namespace pleat::rmsd
