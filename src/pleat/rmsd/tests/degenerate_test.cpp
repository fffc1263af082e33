// Every kernel against the oracle's degenerate ensembles and a real trajectory.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "pleat/core/npy.h"
#include "pleat/rmsd/tests/every_kernel.h"

namespace pleat::rmsd {
namespace {

const std::filesystem::path kShared = PLEAT_SHARED;

Frames read_frames(const std::filesystem::path& path, Index most) {
    const NpyArray array = read_npy(path);
    const std::vector<float> values = array.as<float>("xyz");
    return centre({values.data(), std::min(most, array.shape[0]), array.shape[1], 3}, {}, 1);
}

std::vector<std::string> cases() {
    std::vector<std::string> names;
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(kShared / "oracle/rmsd", absent)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("degen_") && name.ends_with("_xyz.npy"))
            names.push_back(name.substr(0, name.size() - 8));
    }
    return names;
}

double tolerance_of(const std::string& name) {
    const bool is_coarse =
        name.find("1e3") != std::string::npos || name.find("far_") != std::string::npos;
    return is_coarse ? 1e-4 : 1e-5;
}

TEST(Degenerate, EveryClassIsRightOnEveryKernel) {
    const std::vector<std::string> names = cases();
    if (names.empty()) GTEST_SKIP() << "no oracle in " << kShared;
    for (const std::string& name : names) {
        const Frames frames = read_frames(kShared / "oracle/rmsd" / (name + "_xyz.npy"), 1 << 20);
        const std::vector<double> truth =
            read_npy(kShared / "oracle/rmsd" / (name + "_rmsd.npy")).as<double>("rmsd");
        const Index count = frames.frame_count();
        test::with_every_kernel(
            frames, [&](const std::string& kernel, const std::vector<float>& found) {
                std::size_t pair = 0;
                double worst = 0.0;
                for (Index i = 0; i < count; ++i) {
                    for (Index j = i + 1; j < count; ++j, ++pair) {
                        const double expected = truth[i * count + j];
                        // A float32 result of 5000 angstrom is rounded by up to 2.4e-4.
                        const double error = std::fabs(found[pair] - expected) - 6e-8 * expected;
                        ASSERT_FALSE(std::isnan(error)) << name << ", " << kernel;
                        worst = std::max(worst, error);
                    }
                }
                EXPECT_LE(worst, tolerance_of(name)) << name << ", " << kernel;
            });
    }
}

TEST(Degenerate, IsRightOnARealTrajectory) {
    const auto path = kShared / "data/ensembles/md70_CA70_M5000_xyz.npy";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
    const Frames frames = read_frames(path, 1000);
    const std::vector<double> truth =
        read_npy(kShared / "oracle/rmsd/md70_first1000_rmsd_condensed.npy").as<double>("rmsd");
    for (const Precision precision : {Precision::mixed, Precision::float64}) {
        const std::vector<float> found = test::cpu_pairs(frames, precision);
        ASSERT_EQ(found.size(), truth.size());
        double worst = 0.0;
        for (std::size_t pair = 0; pair < truth.size(); ++pair)
            worst = std::max(worst, std::fabs(found[pair] - truth[pair]));
        // Float32 itself rounds a result of 8 angstrom by 5e-7.
        EXPECT_LE(worst, precision == Precision::mixed ? 1e-5 : 1.5e-6);
    }
}

}  // namespace
}  // namespace pleat::rmsd
