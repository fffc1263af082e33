// Oracle frames: ensembles with RMSD known in float64, most of them degenerate, and what they
// allow.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "pleat/core/files/npy.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd::test {

inline Frames read_frames(const std::filesystem::path& path, Index most = Index{1} << 20) {
    const NpyArray array = read_npy(path);
    const std::vector<float> values = array.as<float>("xyz");
    return centre({values.data(), std::min(most, array.shape[0]), array.shape[1], 3}, {}, 1);
}

inline std::filesystem::path oracle_folder() {
    return pleat::test::shared_folder() / "oracle/rmsd";
}

/// Names of the degenerate ensembles; none where they are absent.
inline std::vector<std::string> degenerate_cases() {
    std::vector<std::string> names;
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(oracle_folder(), absent)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("degen_") && name.ends_with("_xyz.npy"))
            names.push_back(name.substr(0, name.size() - 8));
    }
    return names;
}

/// Expects condensed values within what the ensemble allows: 1e-5 angstrom, or 1e-4 where it is far
/// or large.
inline void expect_oracle(const std::string& name, const std::vector<float>& found,
                          const std::string& kernel) {
    const NpyArray array = read_npy(oracle_folder() / (name + "_rmsd.npy"));
    const std::vector<double> truth = array.as<double>("rmsd");
    const Index count = array.shape[0];
    const bool is_coarse =
        name.find("1e3") != std::string::npos || name.find("far_") != std::string::npos;
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
    EXPECT_LE(worst, is_coarse ? 1e-4 : 1e-5) << name << ", " << kernel;
}

/// A real trajectory of 70 atoms, and the condensed RMSD of its first 1000 frames.
inline std::filesystem::path trajectory() {
    return pleat::test::shared_folder() / "data/ensembles/md70_CA70_M5000_xyz.npy";
}
inline std::vector<double> trajectory_truth() {
    return read_npy(oracle_folder() / "md70_first1000_rmsd_condensed.npy").as<double>("rmsd");
}

inline double worst_error(const std::vector<float>& found, const std::vector<double>& truth) {
    EXPECT_EQ(found.size(), truth.size());
    double worst = 0.0;
    for (std::size_t pair = 0; pair < truth.size(); ++pair) {
        const double error = std::fabs(found[pair] - truth[pair]);
        worst = std::isnan(error) ? 1e9 : std::max(worst, error);
    }
    return worst;
}

}  // namespace pleat::rmsd::test
