// Equivalent atoms: sides of residues by their names.
#include "pleat/bio/structure/equivalent_atoms.h"

#include <gtest/gtest.h>

#include <string>

#include "pleat/core/tests/data_folders.h"

namespace pleat {
namespace {

/// The groups of one residue, as text: sides between |, groups between blanks.
std::string groups_of(const std::string& residue, const std::vector<std::string>& atoms) {
    Topology topology;
    topology.residues.push_back({residue, 1, ' ', "A"});
    for (const std::string& atom : atoms) topology.atoms.push_back({atom, "C", 1, 0});
    std::string text;
    for (const auto& group : equivalent_atoms(topology)) {
        if (!text.empty()) text += ' ';
        for (std::size_t side = 0; side < group.size(); ++side) {
            if (side > 0) text += '|';
            for (std::size_t k = 0; k < group[side].size(); ++k) {
                if (k > 0) text += ',';
                text += atoms[static_cast<std::size_t>(group[side][k])];
            }
        }
    }
    return text;
}

TEST(EquivalentAtoms, AreThoseOfTheirResidues) {
    EXPECT_EQ(groups_of("PHE", {"CA", "CD1", "CD2", "CE1", "CE2", "CZ"}), "CD1,CE1|CD2,CE2");
    EXPECT_EQ(groups_of("TYR", {"CD1", "CD2", "CE1", "CE2", "HD1", "HD2", "HE1", "HE2"}),
              "CD1,CE1,HD1,HE1|CD2,CE2,HD2,HE2");
    EXPECT_EQ(groups_of("TYR", {"CD1", "CD2", "CE1", "CE2", "HD1"}), "")
        << "the hydrogen of one side would be left behind";
    EXPECT_EQ(groups_of("TYR", {"CD1", "CD2", "CE1"}), "");
    EXPECT_EQ(groups_of("GLU", {"OE1", "OE2"}), "OE1|OE2");
    EXPECT_EQ(groups_of("ARG", {"NH1", "NH2"}), "NH1|NH2");
    EXPECT_EQ(groups_of("ASP", {"N", "CA", "C", "O", "OXT", "OD1", "OD2"}), "OD1|OD2 O|OXT");
    EXPECT_EQ(groups_of("LYS", {"HZ1", "HZ2", "HZ3"}), "HZ1|HZ2|HZ3");
    for (const char* different : {"VAL", "LEU"})
        EXPECT_EQ(groups_of(different, {"CG1", "CG2", "CD1", "CD2"}), "");
    EXPECT_EQ(groups_of("ASN", {"OD1", "ND2"}), "");
    EXPECT_EQ(groups_of("LIG", {"O", "OXT", "H1", "H2", "H3"}), "") << "no amino acid";
}

TEST(EquivalentAtoms, OfLysozyme) {
    std::size_t wanted = 0;
    const Topology topology = read_topology(test::data_folder() / "1hel.pdb.gz");
    for (const Topology::Residue& residue : topology.residues)
        for (const char* name : {"PHE", "TYR", "ASP", "GLU", "ARG"}) wanted += residue.name == name;
    EXPECT_EQ(equivalent_atoms(topology).size(), wanted + 1) << "and O with OXT of the last one";
}

}  // namespace
}  // namespace pleat
