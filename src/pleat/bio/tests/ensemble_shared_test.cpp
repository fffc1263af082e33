// Ensembles on the real files of ../shared, against each other and against what is known of them.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/tests/data_folders.h"

namespace {

using namespace pleat;
namespace fs = std::filesystem;

const fs::path kEnsembles = test::shared_folder() / "data" / "ensembles";

Ensemble read(const std::string& name, EnsembleOptions options = {}) {
    return read_ensemble({(kEnsembles / name).string()}, std::move(options));
}

double distance(const Ensemble& ensemble, Index frame, Index a, Index b) {
    double sum = 0;
    for (Index axis = 0; axis < 3; ++axis) {
        const double d = ensemble.xyz(frame, axis, a) - ensemble.xyz(frame, axis, b);
        sum += d * d;
    }
    return std::sqrt(sum);
}

void expect_models_and_atoms_of_the_manifest() {
    struct Row {
        const char* file;
        const char* select;
        Index frames, atoms;
    };
    for (const Row& row :
         {Row{"nmr/2sdf.pdb.gz", "all", 30, 1124}, Row{"nmr/2sdf.pdb.gz", "ca", 30, 67},
          Row{"nmr/2k39_CA.pdb.gz", "ca", 116, 76}, Row{"ample_toxd_rosetta.pdb.gz", "ca", 30, 59},
          Row{"durandal10/decoys.pdb.gz", "ca", 10, 106},
          Row{"RfaH_AFcluster/RfaH_all_CA.pdb.gz", "all", 271, 162},
          Row{"KaiB_AFcluster/KaiB_all_CA.pdb.gz", "all", 1329, 91}}) {
        SCOPED_TRACE(row.file);
        EnsembleOptions options;
        options.select = row.select;
        const Ensemble ensemble = read(row.file, options);
        EXPECT_EQ(ensemble.frame_count(), row.frames);
        EXPECT_EQ(ensemble.atom_count(), row.atoms);
        EXPECT_EQ(ensemble.origins.back().frame, row.frames - 1);
    }
}

void expect_decoys_to_be_compared_by_heavy_atoms() {
    try {
        read("ample_toxd_rosetta.pdb.gz");
        FAIL();
    } catch (const InputError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("frame 1: expected the 984 selected atoms"), std::string::npos) << text;
        EXPECT_NE(text.find("HE2 of HIS 10 in chain 'A'"), std::string::npos) << text;
    }
    EnsembleOptions options;
    options.select = "heavy";
    EXPECT_EQ(read("ample_toxd_rosetta.pdb.gz", options).frame_count(), 30);
}

void expect_npy_to_be_read_unchanged() {
    const Ensemble ensemble = read("md70_CA70_M5000_xyz.npy");
    const NpyArray array = read_npy(kEnsembles / "md70_CA70_M5000_xyz.npy");
    const std::vector<float> expected = array.as<float>("xyz");
    ASSERT_EQ(ensemble.frame_count(), 5000);
    ASSERT_EQ(ensemble.atom_count(), 70);
    Index differing = 0;
    for (Index frame = 0; frame < 5000; ++frame) {
        for (Index atom = 0; atom < 70; ++atom) {
            for (Index axis = 0; axis < 3; ++axis) {
                const auto at = static_cast<std::size_t>((frame * 70 + atom) * 3 + axis);
                differing += ensemble.xyz(frame, axis, atom) != expected[at];
            }
        }
    }
    EXPECT_EQ(differing, 0);
}

void expect_a_note_about_frames_that_are_missing() {
    EnsembleOptions options;
    options.topology = kEnsembles / "adk_dims" / "adk_closed.pdb.gz";
    const Ensemble ensemble = read("adk_dims/adk_dims.dcd", options);
    EXPECT_EQ(ensemble.frame_count(), 98);
    EXPECT_EQ(ensemble.atom_count(), 3341);
    ASSERT_FALSE(ensemble.notes.empty());
    EXPECT_NE(ensemble.notes.back().text.find("announces 500 frames, the file holds 98"),
              std::string::npos)
        << ensemble.notes.back().text;
    // The trajectory begins near the closed state: bonds of the topology hold in every frame.
    options.select = "backbone";
    const Ensemble backbone = read("adk_dims/adk_dims.dcd", options);
    EXPECT_EQ(backbone.atom_count(), 4 * 214 - 1);  // the last residue ends in OT1 and OT2
    for (const Index frame : {Index{0}, Index{50}, Index{97}}) {
        EXPECT_NEAR(distance(backbone, frame, 0, 1), 1.48, 0.1);  // N-CA
        EXPECT_NEAR(distance(backbone, frame, 1, 2), 1.53, 0.1);  // CA-C
    }
    options.select = "ca";
    options.range = parse_frame_range("1:98:10");
    EXPECT_EQ(read("adk_dims/adk_dims.dcd", options).frame_count(), 10);
}

void expect_states_to_be_matched_by_identity() {
    EnsembleOptions options;
    options.select = "ca";
    const fs::path folder = kEnsembles / "adk_dims";
    const Ensemble two = read_ensemble(
        {(folder / "adk_closed.pdb.gz").string(), (folder / "adk_open.pdb.gz").string()}, options);
    EXPECT_EQ(two.frame_count(), 2);
    EXPECT_EQ(two.atom_count(), 214);
}

void expect_xtc_to_keep_the_geometry() {
    EnsembleOptions options;
    options.topology = kEnsembles / "asp7" / "asp7.pdb";
    const Ensemble ensemble = read("asp7/asp7.xtc", options);
    ASSERT_EQ(ensemble.frame_count(), 10001);
    ASSERT_EQ(ensemble.atom_count(), 57);
    double shortest = 10, longest = 0;
    for (Index frame = 0; frame < ensemble.frame_count(); ++frame) {
        const double bond = distance(ensemble, frame, 0, 1);  // N-CA of the first residue
        shortest = std::min(shortest, bond);
        longest = std::max(longest, bond);
    }
    EXPECT_GT(shortest, 1.3);
    EXPECT_LT(longest, 1.7);
}

void expect_another_number_of_atoms_to_be_refused() {
    EnsembleOptions options;
    options.topology = kEnsembles / "asp7" / "asp7.pdb";
    try {
        read("adk_dims/adk_dims.dcd", options);
        FAIL();
    } catch (const InputError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("expected 57 atoms as in"), std::string::npos) << text;
        EXPECT_NE(text.find("found 3341"), std::string::npos) << text;
    }
}

TEST(SharedEnsembles, AreReadAsTheirManifestSays) {
    if (!fs::exists(kEnsembles))
        GTEST_SKIP() << "the larger ensembles of " << kEnsembles << " are absent";
    expect_models_and_atoms_of_the_manifest();
    expect_decoys_to_be_compared_by_heavy_atoms();
    expect_npy_to_be_read_unchanged();
    expect_a_note_about_frames_that_are_missing();
    expect_states_to_be_matched_by_identity();
    expect_xtc_to_keep_the_geometry();
    expect_another_number_of_atoms_to_be_refused();
}

}  // namespace
