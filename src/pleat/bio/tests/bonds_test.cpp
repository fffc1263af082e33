// Bonds: by names, by distances, from the lists of files.
#include "pleat/bio/periodic/bonds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/tests/made_complex.h"
#include "pleat/bio/tests/packed.h"
#include "pleat/bio/tests/scratch_file.h"
#include "pleat/bio/tests/structure_text.h"
#include "pleat/core/tests/data_folders.h"

namespace {

using namespace pleat;
using namespace pleat::testing;
using pleat::test::pdb_line;

Topology topology_of(const std::string& name, const std::string& text) {
    const ScratchFolder folder;
    return read_topology(folder.write(name, text));
}

/// "A:1:CA-A:1:C" of all bonds.
std::set<std::string> names_of(const Topology& topology) {
    std::set<std::string> names;
    const auto name = [&](Index i) {
        const Topology::Residue& residue = topology.residue_of(i);
        return residue.chain + ":" + std::to_string(residue.number) + ":" +
               topology.atoms[static_cast<std::size_t>(i)].name;
    };
    for (const Bond& bond : find_bonds(topology, PeriodicCell{topology.cell}))
        names.insert(name(bond[0]) + "-" + name(bond[1]));
    return names;
}

/// Molecules that the bonds make of all atoms.
Index count_molecules(const Topology& topology) {
    std::vector<Index> parent(topology.atoms.size());
    for (std::size_t i = 0; i < parent.size(); ++i) parent[i] = static_cast<Index>(i);
    const auto root = [&](Index i) {
        while (parent[static_cast<std::size_t>(i)] != i) i = parent[static_cast<std::size_t>(i)];
        return i;
    };
    Index count = topology.atom_count();
    for (const Bond& bond : find_bonds(topology, PeriodicCell{topology.cell})) {
        const Index a = root(bond[0]), b = root(bond[1]);
        if (a == b) continue;
        parent[static_cast<std::size_t>(a)] = b;
        --count;
    }
    return count;
}

TEST(Bonds, OfResiduesAndLigandsMakeMolecules) {
    const MadeComplex complex;
    const Topology topology = topology_of("x.pdb", complex.pdb());
    const std::set<std::string> names = names_of(topology);
    for (const char* bond : {"A:1:N-A:1:HX7", "A:1:N-A:1:CA", "A:1:CA-A:1:C", "A:1:C-A:2:N",
                             "A:1:CA-A:1:CB", "L:1:C1-L:1:C2", "W:1:O-W:1:H2"})
        EXPECT_TRUE(names.count(bond)) << bond;
    EXPECT_FALSE(names.count("L:1:C1-L:1:C3"));
    EXPECT_EQ(count_molecules(topology), 2 + 1 + 3);
}

TEST(Bonds, OfARealProteinMakeOneMolecule) {
    // Its waters are molecules of their own.
    const Topology topology = read_topology(test::data_folder() / "1ql9_A.pdb.gz");
    Index others = 0;
    for (std::size_t r = 0; r < topology.residues.size(); ++r)
        others += residue_starts(topology)[r + 1] - residue_starts(topology)[r] == 1;
    EXPECT_EQ(count_molecules(topology), 1 + others);
}

TEST(Bonds, AreReadFromConect) {
    std::string text;
    for (int n = 1; n <= 3; ++n)
        text += pdb_line({.record = "HETATM",
                          .serial = 10 * n,
                          .name = "ZN",
                          .residue = "ZN",
                          .number = n,
                          .x = 5.0 * n,
                          .element = "ZN"});
    const std::string end = "CONECT   10   30\nCONECT   20   99\n";
    for (const std::string& whole :
         {text + end + "END\n", "MODEL        1\n" + text + "ENDMDL\n" + end + "END\n"})
        EXPECT_EQ(find_bonds(topology_of("x.pdb", whole), {}), (std::vector<Bond>{{0, 2}}));
}

TEST(Bonds, AreReadFromConectBehindTheLastModel) {
    const auto atoms = [](double x) {
        std::string text;
        for (int n = 1; n <= 3; ++n)
            text += pdb_line({.record = "HETATM",
                              .serial = n,
                              .name = "ZN",
                              .residue = "ZN",
                              .number = n,
                              .x = x * n,
                              .element = "ZN"});
        return text;
    };
    const ScratchFolder folder;
    const auto bonds_of = [&](const std::string& text) {
        return find_bonds(read_topology(folder.write("x.pdb", text)), {});
    };
    const std::string one = "MODEL        1\n" + atoms(5) + "ENDMDL\n",
                      two = "MODEL        2\n" + atoms(7) + "TER\nENDMDL\n";
    std::string many;  // more lines than are read at first
    for (int n = 0; n < 9000; ++n) many += "CONECT    1    3\n";
    const std::vector<std::string> lists = {"CONECT    1    3\nMASTER   0\n", many,
                                            "REMARK x\r\nCONECT    1    3\r\n"};
    for (const std::string& bonds : lists)
        for (const char* const end : {"END\n", "END"}) {
            const std::string text = one + two + bonds + end;
            EXPECT_EQ(bonds_of(text), (std::vector<Bond>{{0, 2}}));
            EXPECT_EQ(bonds_of(gzipped(text)), (std::vector<Bond>{{0, 2}}));
        }
    EXPECT_TRUE(bonds_of(one + two + "END\n").empty());
    // Bonds behind the first model are those that count.
    EXPECT_EQ(bonds_of(one + "CONECT    1    2\n" + two + "CONECT    1    3\nEND\n"),
              (std::vector<Bond>{{0, 1}}));
    // Frames are read as before.
    const auto reader = open_frames(folder.write("y.pdb", one + two + many + "END\n"));
    Array<float, 2> frame(3, Index{3});
    ASSERT_TRUE(reader->next(frame));
    ASSERT_TRUE(reader->next(frame));
    EXPECT_EQ(frame(0, 1), 14.0F);
    EXPECT_FALSE(reader->next(frame));
}

TEST(Bonds, AreReadFromStructConn) {
    std::string text = test::kCifHeader;
    for (int n = 1; n <= 3; ++n)
        text += test::cif_line({.record = "HETATM",
                                .serial = n,
                                .name = "C1",
                                .residue = "BEN",
                                .number = n,
                                .x = 5.0 * n});
    text +=
        "#\nloop_\n_struct_conn.id\n_struct_conn.conn_type_id\n_struct_conn.ptnr1_auth_asym_id\n"
        "_struct_conn.ptnr1_auth_seq_id\n_struct_conn.ptnr1_label_atom_id\n"
        "_struct_conn.ptnr2_auth_asym_id\n_struct_conn.ptnr2_auth_seq_id\n"
        "_struct_conn.ptnr2_label_atom_id\n_struct_conn.ptnr1_symmetry\n"
        "_struct_conn.ptnr2_symmetry\ncovale1 covale A 1 C1 A 3 C1 1_555 1_555\n"
        "metalc1 metalc A 1 C1 A 2 C1 1_555 1_555\ncovale2 covale A 2 C1 A 3 C1 1_555 2_655\n";
    EXPECT_EQ(find_bonds(topology_of("x.cif", text), {}), (std::vector<Bond>{{0, 2}}));
}

TEST(Bonds, CrossTheCellOfTheTopology) {
    std::string text = "CRYST1   20.000   20.000   20.000  90.00  90.00  90.00 P 1           1\n";
    text += pdb_line({.name = "C1", .residue = "LIG", .x = 0.5});
    text += pdb_line({.name = "C2", .residue = "LIG", .x = 19.1});
    text += pdb_line({.name = "C1", .residue = "LIG", .number = 2, .x = 9});
    text += pdb_line({.name = "C2", .residue = "LIG", .number = 2, .x = 10.5});
    const Topology topology = topology_of("x.pdb", text + "END\n");
    EXPECT_EQ(find_bonds(topology, PeriodicCell{topology.cell}),
              (std::vector<Bond>{{0, 1}, {2, 3}}));
}

TEST(Bonds, DoNotJoinLipidsByTheirPhosphorus) {
    std::string text;
    for (int n = 1; n <= 2; ++n)
        for (int k = 0; k < 7; ++k)
            text += pdb_line({.name = k == 0 ? "P" : "C" + std::to_string(k),
                              .residue = "POP",
                              .number = n,
                              .x = 1.5 * k,
                              .y = 6.0 * n,
                              .element = k == 0 ? "P" : "C"});
    EXPECT_EQ(count_molecules(topology_of("x.pdb", text + "END\n")), 2);
}

}  // namespace
