// Oracle frames: ensembles whose RMSD is known in float64, most of them degenerate, and how far a
// kernel may be off.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd::test {

/// Frames with the RMSD of their pairs, known in float64.
struct OracleFrames {
    std::string name;
    Frames frames;
    std::vector<double> truth;  ///< condensed: pairs i < j in row order
};

/// The first `max_frames` of an array [frame, atom, 3].
inline Frames frames_of(const NpyArray& xyz, Index max_frames = Index{1} << 20) {
    const std::vector<float> values = xyz.as<float>("xyz");
    return centre({values.data(), std::min(max_frames, xyz.shape[0]), xyz.shape[1], 3}, {}, 1);
}

/// The pairs i < j of a square matrix.
inline std::vector<double> condensed(const NpyArray& matrix) {
    const std::vector<double> values = matrix.as<double>("rmsd");
    const Index count = matrix.shape[0];
    std::vector<double> pairs;
    for (Index i = 0; i < count; ++i)
        pairs.insert(pairs.end(), values.begin() + i * count + i + 1,
                     values.begin() + (i + 1) * count);
    return pairs;
}

/// Degenerate ensembles: those of data/oracles, and those of ../shared if it is present.
inline std::vector<OracleFrames> degenerate_ensembles() {
    std::vector<OracleFrames> found;
    const NpzReader committed(pleat::test::committed_oracles("rmsd") / "degenerate.npz");
    for (const std::string& name : committed.names()) {
        if (!name.ends_with("_xyz")) continue;
        const std::string ensemble = name.substr(0, name.size() - 4);
        found.push_back({ensemble, frames_of(committed.get(name)),
                         condensed(committed.get(ensemble + "_rmsd"))});
    }
    EXPECT_GT(found.size(), 20u);
    const std::filesystem::path folder = pleat::test::shared_folder() / "oracle/rmsd";
    if (!pleat::test::shared_is_present(folder)) return found;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string file = entry.path().filename().string();
        if (!file.starts_with("degen_") || !file.ends_with("_xyz.npy")) continue;
        const std::string ensemble = file.substr(0, file.size() - 8);
        found.push_back({ensemble, frames_of(read_npy(entry.path())),
                         condensed(read_npy(folder / (ensemble + "_rmsd.npy")))});
    }
    return found;
}

/// Expects condensed values within what the ensemble allows: 1e-5 angstrom, or 1e-4 where it is far
/// from the origin or large.
inline void expect_oracle(const OracleFrames& oracle, const std::vector<float>& found,
                          const std::string& kernel) {
    const bool is_coarse = oracle.name.find("1e3") != std::string::npos ||
                           oracle.name.find("far_") != std::string::npos;
    ASSERT_EQ(found.size(), oracle.truth.size()) << oracle.name;
    double worst = 0.0;
    for (std::size_t pair = 0; pair < found.size(); ++pair) {
        const double expected = oracle.truth[pair];
        // A float32 result of 5000 angstrom is rounded by up to 2.4e-4.
        const double error = std::fabs(found[pair] - expected) - 6e-8 * expected;
        ASSERT_FALSE(std::isnan(error)) << oracle.name << ", " << kernel;
        worst = std::max(worst, error);
    }
    EXPECT_LE(worst, is_coarse ? 1e-4 : 1e-5) << oracle.name << ", " << kernel;
}

/// The first frames of the simulation of HIV-1 protease in data/: its 198 CA atoms.
inline Ensemble hiv_protease(Index frames) {
    const std::filesystem::path data = pleat::test::data_folder();
    EnsembleOptions options;
    options.topology = data / "hivp.pdb.gz";
    options.range.last = frames;
    return read_ensemble({(data / "hivp.dcd.gz").string()}, options);
}

/// Real trajectories: the first 60 frames of the 198 CA atoms of HIV-1 protease in data/ and, if
/// ../shared is present, up to 1000 frames of 70 atoms.
inline std::vector<OracleFrames> trajectories(Index max_frames = 1000) {
    std::vector<OracleFrames> found;
    const Ensemble hivp = hiv_protease(60);
    Array<float, 3> xyz(hivp.frame_count(), hivp.atom_count(), Index{3});
    for (Index frame = 0; frame < hivp.frame_count(); ++frame)
        for (Index axis = 0; axis < 3; ++axis)
            for (Index atom = 0; atom < hivp.atom_count(); ++atom)
                xyz(frame, atom, axis) = hivp.xyz(frame, axis, atom);
    found.push_back({"hivp", centre(xyz, {}, 1),
                     NpzReader(pleat::test::committed_oracles("rmsd") / "hivp_first60.npz")
                         .get("rmsd")
                         .as<double>("rmsd")});
    const std::filesystem::path shared = pleat::test::shared_folder();
    const std::filesystem::path path = shared / "data/ensembles/md70_CA70_M5000_xyz.npy";
    if (!pleat::test::shared_is_present(path)) return found;
    std::vector<double> truth =
        read_npy(shared / "oracle/rmsd/md70_first1000_rmsd_condensed.npy").as<double>("rmsd");
    std::vector<double> first;  // of the pairs of 1000 frames, those of the first ones
    for (Index i = 0; i < max_frames; ++i) {
        const auto row = truth.begin() + pairs_before(i, 1000);
        first.insert(first.end(), row, row + (max_frames - 1 - i));
    }
    found.push_back({"md70", frames_of(read_npy(path), max_frames), std::move(first)});
    return found;
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
