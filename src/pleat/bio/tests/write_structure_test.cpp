// Structures that are written read back as what they were: names, numbers, chains, models.
#include "pleat/bio/ensemble/write_frames.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/tests/refusal.h"
#include "pleat/bio/tests/scratch_file.h"

namespace {

using namespace pleat;
using pleat::testing::refusal;
using pleat::testing::ScratchFolder;

Topology odd_topology() {
    Topology topology;
    topology.residues = {{"MSE", -12, ' ', "A"},
                         {"HSD", 52, 'A', "A"},
                         {"DA", 9999, ' ', "B"},
                         {"ALA", 10000, ' ', "B"},
                         {"ZN", 123456, ' ', "B"}};
    topology.atoms = {{"CA", "C", 0, 0},  {"SE", "Se", 0, 0},  {"HD21", "H", 0, 1},
                      {"C1'", "C", 0, 2}, {"O5\"", "O", 0, 2}, {"CA", "C", 0, 3},
                      {"ZN", "Zn", 0, 4}};
    return topology;
}

Array<float, 3> coordinates(Index frames, Index atoms) {
    Array<float, 3> xyz(frames, Index{3}, atoms);
    for (Index n = 0; n < xyz.size(); ++n)
        xyz.data()[n] = static_cast<float>(static_cast<double>(n * 7919 % 20001) / 1000.0 - 10.0);
    xyz(0, 0, 0) = -999.999f;
    xyz(0, 1, 0) = 9999.999f;
    xyz(0, 2, 0) = -0.0001f;
    return xyz;
}

void write_structure(const std::filesystem::path& path, const Topology& topology,
                     View<const float, 3> xyz) {
    StructureWriter writer(path, topology);
    for (Index frame = 0; frame < xyz.extent(0); ++frame) writer.add(xyz[frame]);
    writer.close();
}

std::string text_of(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

void expect_same(const Topology& expected, const Topology& found) {
    ASSERT_EQ(found.atom_count(), expected.atom_count());
    for (Index at = 0; at < expected.atom_count(); ++at) {
        EXPECT_EQ(found.identity(at), expected.identity(at));
        EXPECT_EQ(found.atom_label(at), expected.atom_label(at));
        EXPECT_EQ(found.atoms[at].element, expected.atoms[at].element) << found.atom_label(at);
    }
}

TEST(WriteStructure, BothFormatsReadBack) {
    const ScratchFolder folder;
    const Topology topology = odd_topology();
    const Array<float, 3> xyz = coordinates(3, topology.atom_count());
    for (const char* name : {"a.pdb", "a.ent", "a.cif", "a.mmcif"}) {
        SCOPED_TRACE(name);
        const std::filesystem::path path = folder.path() / name;
        write_structure(path, topology, xyz);
        const Ensemble read = read_ensemble({path.string()});
        ASSERT_EQ(read.frame_count(), 3);
        expect_same(topology, *read.topology);
        for (Index n = 0; n < xyz.size(); ++n)
            EXPECT_NEAR(read.xyz.data()[n], xyz.data()[n], 0.0011) << n;
    }
}

TEST(WriteStructure, ColumnsOfPdbAreThoseOfTheFormat) {
    const ScratchFolder folder;
    const Topology topology = odd_topology();
    const std::filesystem::path path = folder.path() / "a.pdb";
    write_structure(path, topology, coordinates(1, topology.atom_count()));
    std::istringstream lines(text_of(path));
    const char* const expected[] = {
        "MODEL        1",
        "HETATM    1  CA  MSE A -12    -999.9999999.999   0.000  1.00  0.00           C  ",
        "HETATM    2 SE   MSE A -12    ",
        "ATOM      3 HD21 HSD A  52A   ",
        "TER",
        "ATOM      4  C1'  DA B9999    "};
    for (const char* part : expected) {
        std::string line;
        std::getline(lines, line);
        EXPECT_EQ(line.substr(0, std::string(part).size()), part);
        EXPECT_TRUE(line.size() == 80 || line.starts_with("MODEL") || line == "TER") << line;
    }
}

TEST(WriteStructure, LongNamesOfChainsAndResidues) {
    const ScratchFolder folder;
    Topology topology;
    topology.residues = {{"LYSN", 1, ' ', ""}, {"LYSN", 2, ' ', "PROA"}, {"GLY", 3, ' ', "AB"}};
    topology.atoms = {{"CA", "C", 0, 0}, {"CA", "C", 0, 1}, {"CA", "C", 0, 2}};
    EXPECT_TRUE(fits_pdb(topology));
    for (const char* name : {"a.pdb", "a.cif"}) {
        write_structure(folder.path() / name, topology, coordinates(2, 3));
        expect_same(topology, *read_ensemble({(folder.path() / name).string()}).topology);
    }
    topology.residues[2].chain = "Chain1";
    EXPECT_FALSE(fits_pdb(topology));
    const std::string told =
        refusal([&] { write_structure(folder.path() / "b.pdb", topology, coordinates(1, 3)); });
    EXPECT_NE(told.find("expected chain names of at most 4 characters for PDB, found 'Chain1'"),
              std::string::npos)
        << told;
    write_structure(folder.path() / "b.cif", topology, coordinates(1, 3));
    expect_same(topology, *read_ensemble({(folder.path() / "b.cif").string()}).topology);
}

TEST(WriteStructure, WhatDoesNotFitIsRefusedAndLeavesNothing) {
    const ScratchFolder folder;
    const Topology topology = unnamed_topology(2, "x.npy");
    for (const float bad : {10000.0f, -1000.0f, std::numeric_limits<float>::quiet_NaN()}) {
        Array<float, 3> xyz = coordinates(2, 2);
        xyz(1, 2, 1) = bad;
        const std::string told =
            refusal([&] { write_structure(folder.path() / "a.pdb", topology, xyz); });
        EXPECT_NE(told.find("frame 1: expected coordinates from"), std::string::npos) << told;
        EXPECT_EQ(refusal([&] { write_structure(folder.path() / "a.cif", topology, xyz); }).empty(),
                  !std::isnan(bad));
    }
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "a.pdb"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "a.pdb.pleat-part"));
    EXPECT_NE(refusal([&] {
                  write_structure(folder.path() / "a.xyz", topology, coordinates(1, 2));
              }).find(".cif or .mmcif, found"),
              std::string::npos);
}

}  // namespace
