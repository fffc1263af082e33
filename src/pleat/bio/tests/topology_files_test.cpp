// Topology files: GRO, PSF and PRMTOP give the same atoms, bonds and chains, or a clear refusal.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/bio/structure/topology.h"
#include "pleat/bio/tests/packed.h"
#include "pleat/bio/tests/refusal.h"
#include "pleat/bio/tests/scratch_file.h"
#include "pleat/bio/tests/structure_text.h"
#include "pleat/bio/tests/topology_text.h"
#include "pleat/bio/tests/written_trajectory.h"

namespace {

using namespace pleat;
using namespace pleat::testing;

Topology topology_of(const std::string& text) {
    const ScratchFolder folder;
    return read_topology(folder.write("x", text));
}

std::string refusal_of(const std::string& text) {
    const ScratchFolder folder;
    const std::filesystem::path file = folder.write("x", text);
    return refusal([&] { read_topology(file); });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

::testing::AssertionResult has(const std::string& text, const std::string& part) {
    if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "'" << text << "' lacks '" << part << "'";
}

void expect_small_system(const Topology& topology, const std::vector<std::string>& chains) {
    ASSERT_EQ(topology.atom_count(), 13);
    for (Index i = 0; i < 13; ++i) {
        const NamedAtom& wanted = small_system()[static_cast<std::size_t>(i)];
        const Topology::Atom& atom = topology.atoms[static_cast<std::size_t>(i)];
        EXPECT_EQ(atom.name, wanted.name);
        EXPECT_EQ(atom.element, wanted.element) << wanted.name;
        EXPECT_NEAR(atom.mass, wanted.mass, 0.01);
        EXPECT_EQ(topology.residue_of(i).name, wanted.residue);
    }
    ASSERT_EQ(topology.residues.size(), 4u);
    std::vector<std::string> found;
    for (const Topology::Residue& residue : topology.residues) found.push_back(residue.chain);
    EXPECT_EQ(found, chains);
    EXPECT_FALSE(topology.has_chain_names);
    EXPECT_EQ(select_atoms(topology, "ca"), (std::vector<Index>{1, 4, 8}));
    EXPECT_EQ(select_atoms(topology, "water").size(), 3u);
}

std::vector<std::array<Index, 2>> sorted_bonds(const Topology& topology) {
    std::vector<std::array<Index, 2>> bonds = topology.bonds;
    std::sort(bonds.begin(), bonds.end());
    return bonds;
}

void expect_small_bonds(const Topology& topology) {
    EXPECT_TRUE(topology.has_all_bonds);
    std::vector<std::array<Index, 2>> wanted;
    for (const auto& [a, b] : small_bonds()) wanted.push_back({a, b});
    EXPECT_EQ(sorted_bonds(topology), wanted);
}

TEST(GroFile, HasAtomsCoordinatesAndBox) {
    for (const int decimals : {3, 2, 6}) {
        const Topology topology = topology_of(gro_frame(0.25, decimals, "5 6 7 0 0 1 0 2 -3"));
        expect_small_system(topology, {"A", "A", "B", ""});
        EXPECT_FALSE(topology.has_all_bonds);
        EXPECT_NEAR(topology.positions[12][0], 120, 1e-4);
        EXPECT_NEAR(topology.positions[12][1], 12, 1e-4);
        EXPECT_NEAR(topology.positions[12][2], 2.5, 1e-5 + (decimals == 2 ? 0.1 : 0));
        const std::array<std::array<double, 3>, 3> cell = {
            {{50, 0, 0}, {10, 60, 0}, {20, -30, 70}}};
        EXPECT_EQ(topology.cell, cell);
    }
}

TEST(GroFile, OfSeveralFramesIsAnEnsemble) {
    const ScratchFolder folder;
    const auto file =
        folder.write("x.gro", gro_frame(0) + gro_frame(0.1) + "\n" + gro_frame(0.2) + "\n\n");
    EnsembleOptions options;
    options.select = "ca";
    options.pbc = Pbc::none;
    const Ensemble ensemble = read_ensemble({file.string()}, options);
    ASSERT_EQ(ensemble.frame_count(), 3);
    EXPECT_NEAR(ensemble.xyz(2, 2, 1), 2, 1e-5);
    EXPECT_NEAR(ensemble.xyz(2, 0, 1), 40, 1e-5);
    EXPECT_EQ(read_ensemble({folder.path().string()}, options).frame_count(), 3);
    const auto packed = folder.write("y.gz", gzipped(gro_frame(0) + gro_frame(1)));
    EXPECT_EQ(read_ensemble({packed.string()}, options).frame_count(), 2);
}

TEST(GroFile, FramesAreMadeWholeInTheirBox) {
    // The second frame has residue 2 of the first chain on the other side of the box.
    std::string text;
    for (const double shift : {0.0, 4.0}) {
        text += "two residues\n    6\n";
        for (int n = 0; n < 6; ++n)
            text += printed("%5d%-5s%5s%5d%8.3f%8.3f%8.3f\n", 1 + n / 3, "ALA",
                            n % 3 == 0   ? "N"
                            : n % 3 == 1 ? "CA"
                                         : "C",
                            n + 1, 0.1 + 0.14 * n + (n > 2 ? shift : 0), 0.1, 0.1);
        text += "   4.00000   4.00000   4.00000\n";
    }
    const ScratchFolder folder;
    const auto file = folder.write("x.gro", text);
    const Ensemble ensemble = read_ensemble({file.string()});
    for (Index atom = 0; atom < 6; ++atom)
        EXPECT_NEAR(ensemble.xyz(1, 0, atom), ensemble.xyz(0, 0, atom), 1e-4) << atom;
    EXPECT_TRUE(has(ensemble.notes.back().text, "selection split over the box in 1 of 2 frames"));
}

TEST(GroFile, ResidueNumbersCountOnBehind99999) {
    std::string text = "water\n    6\n";
    for (int n = 0; n < 6; ++n)
        text += printed("%5d%-5s%5s%5d%8.3f%8.3f%8.3f\n", (99997 + n) % 100000, "SOL", "OW", n + 1,
                        0.1 * n, 0.0, 0.0);
    const Topology topology = topology_of(text + "1 1 1\n");
    ASSERT_EQ(topology.residues.size(), 6u);
    EXPECT_EQ(topology.residues[2].number, 99999);
    EXPECT_EQ(topology.residues[3].number, 100000);
    EXPECT_EQ(topology.residues[5].number, 100002);
}

TEST(GroFile, ChainsEndWherePolymersDo) {
    struct Row {
        const char *residue, *name;
        int number;
        const char* chain;
    };
    const std::vector<Row> rows = {
        {"MET", "CA", 1, "A"}, {"GLY", "OC2", 2, "A"}, {"ALA", "CA", 3, "B"},
        {"NME", "N", 4, "B"},  {"ACE", "C", 5, "C"},   {"ALA", "CA", 6, "C"},
        {"DA5", "P", 7, "D"},  {"DT3", "P", 8, "D"},   {"DA5", "P", 1, "E"},
        {"LIG", "C1", 2, ""},  {"NA+", "NA", 3, ""},   {"ALA", "CA", 4, "F"}};
    std::string text = printed("chains\n%5zu\n", rows.size());
    for (const Row& row : rows)
        text += printed("%5d%-5s%5s%5d%8.3f%8.3f%8.3f\n", row.number, row.residue, row.name, 1, 0.0,
                        0.0, 0.0);
    const Topology topology = topology_of(text + "0 0 0\n");
    ASSERT_EQ(topology.residues.size(), rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r)
        EXPECT_EQ(topology.residues[r].chain, rows[r].chain) << r;
    EXPECT_EQ(topology.atoms[10].element, "Na");
}

TEST(GroFile, FramesMatchAPdbFileOfOtherChains) {
    std::string pdb;
    for (const NamedAtom& atom : small_system())
        pdb += pleat::test::pdb_line({"ATOM", 1, atom.name, ' ', "ALA",
                                      atom.segment == std::string("P2") ? "Q" : "P", atom.number,
                                      ' ', 1, 2, 3, 1, atom.element});
    const ScratchFolder folder;
    EnsembleOptions options;
    options.topology = folder.write("x.gro", gro_frame());
    options.pbc = Pbc::none;
    const auto whole = folder.write("x.pdb", pdb);
    EXPECT_EQ(read_ensemble({whole.string()}, options).frame_count(), 1);
    // Without the second chain atoms are found by their numbers and names.
    std::size_t end = 0;
    for (int n = 0; n < 7; ++n) end = pdb.find('\n', end) + 1;
    const auto part = folder.write("y.pdb", pdb.substr(0, end));
    options.select = "name HA";
    EXPECT_EQ(read_ensemble({part.string()}, options).frame_count(), 1);
    options.select = "chain B";
    EXPECT_TRUE(has(refusal([&] { read_ensemble({part.string()}, options); }), "missing"));
}

TEST(GroFile, DamagedIsRefused) {
    const std::string good = gro_frame();
    const std::string line = good.substr(good.find("    1ALA"), 45);
    EXPECT_TRUE(has(refusal_of(replaced(good, "   13\n", "   14\n")), "x:16: expected an atom"));
    EXPECT_TRUE(has(refusal_of(replaced(good, "   13\n", "    0\n")),
                    "x:2: expected the number of atoms below a title, found '    0'"));
    EXPECT_TRUE(has(refusal_of(replaced(good, "5 5 5\n", "5 5\n")),
                    "x:16: frame 0: expected a box of 3 or 9 numbers, found '5 5'"));
    EXPECT_TRUE(has(refusal_of(replaced(good, "5 5 5\n", "")), "expected a box, found the end"));
    EXPECT_TRUE(
        has(refusal_of(replaced(good, line, line.substr(0, 40) + "\n")), "x:3: expected an atom"));
    EXPECT_TRUE(has(refusal_of(replaced(good, "   1.000", "   1.0x0")),
                    "x:4: expected a coordinate in columns 21-28, found '   1.0x0'"));
    EXPECT_TRUE(has(refusal_of(replaced(good, "   1.000", "     nan")), "x:4: expected"));
    EXPECT_TRUE(has(refusal_of(replaced(good, "   1.000   0.100", "   1.0000   0.10")),
                    "x:4: expected a coordinate in columns 29-36, found '0   0.10'"));
    EXPECT_TRUE(has(refusal_of(replaced(good, "   1.000   0.100", "  1.0000  0.1000")),
                    "x:4: expected a coordinate in columns 21-28"));
    EXPECT_TRUE(has(refusal_of(replaced(good, "    1ALA      N", "    xALA      N")),
                    "x:3: expected a residue number in columns 1-5, found '    x'"));
    EXPECT_TRUE(has(refusal_of(replaced(good, "    1ALA      N", "    1ALA       ")),
                    "x:3: expected an atom's name in columns 11-15, found none"));
}

TEST(GroFile, CutShortKeepsWholeFramesIfAsked) {
    const ScratchFolder folder;
    const std::string text = gro_frame(0) + gro_frame(1);
    const auto file = folder.write("x.gro", text.substr(0, text.size() - 60));
    EnsembleOptions options;
    EXPECT_TRUE(has(refusal([&] { read_ensemble({file.string()}); }), "(cut short)"));
    options.truncated = true;
    EXPECT_EQ(read_ensemble({file.string()}, options).frame_count(), 1);
}

TEST(PsfFile, HasAtomsAndBondsInEachLayout) {
    const std::string texts[] = {
        psf_text(),
        psf_text(" CMAP CHEQ", "%8d %-4s %-4d %-4s %-4s %4s  %-13.6f%-14.5f 0 0.0 -0.3E-02\n"),
        psf_text(" EXT CMAP XPLOR", "%10d %-8s %-8d %-8s %-8s %-6s %10.6f    %10.4f  0\n"),
        psf_text(" NAMD", "%d %s %d %s %s %s %.3f %.3f 0\n"),
        psf_text("", "%d %s %d %s %s %s %.3f %.3f 0\n")};
    for (const std::string& text : texts) {
        SCOPED_TRACE(text.substr(0, 20));
        const Topology topology = topology_of(text);
        expect_small_system(topology, {"P1", "P1", "P2", "W"});
        expect_small_bonds(topology);
        EXPECT_TRUE(topology.positions.empty());
    }
}

TEST(PsfFile, TellsElementsByMassesWhereNamesDoNot) {
    const auto element = [&](const std::string& name, double mass, const std::string& residue) {
        const Topology topology = topology_of(
            "PSF\n\n 0 !NTITLE\n\n 2 !NATOM\n" +
            printed("%8d L    1    %-4s %-4s X1 0.1 %.4f 0\n", 1, residue.c_str(), name.c_str(),
                    mass) +
            printed("%8d L    1    %-4s %-4s X1 0.1 %.4f 0\n", 2, residue.c_str(), "O1", 15.999));
        return topology.atoms[0].element;
    };
    EXPECT_EQ(element("CD", 12.011, "LIG"), "C");
    EXPECT_EQ(element("CD", 112.414, "LIG"), "Cd");
    EXPECT_EQ(element("SI1", 28.0855, "LIG"), "Si");
    EXPECT_EQ(element("HA", 3.024, "ALA"), "H");
    EXPECT_EQ(element("N", 11.994, "ALA"), "N");
    EXPECT_EQ(element("CLA", 12.011, "LIG"), "C");
    EXPECT_EQ(element("LP1", 0, "LIG"), "X");
}

TEST(PsfFile, HasInsertionCodesAndBlankSegments) {
    const Topology topology = topology_of(
        "PSF\n\n       1 !NTITLE\n x\n\n       2 !NATOM\n"
        "       1      52A  ALA  CA   CT1    0.100000       12.0110           0\n"
        "       2      52B  ALA  CA   CT1    0.100000       12.0110           0\n");
    ASSERT_EQ(topology.residues.size(), 2u);
    EXPECT_EQ(topology.residues[1].number, 52);
    EXPECT_EQ(topology.residues[1].insertion, 'B');
    EXPECT_EQ(topology.residues[1].chain, "");
    EXPECT_FALSE(topology.has_all_bonds);
}

TEST(PsfFile, DamagedIsRefused) {
    const std::string good = psf_text();
    EXPECT_TRUE(has(refusal_of(replaced(good, "13 !NATOM", "14 !NATOM")),
                    "x:20: expected an atom (number, segment, residue number, residue name, name, "
                    "type, charge, mass), found ''"));
    EXPECT_TRUE(
        has(refusal_of(replaced(good, "13 !NATOM", "xx !NATOM")), "x:6: expected a number"));
    EXPECT_TRUE(has(refusal_of("PSF\n\n 1 !NTITLE\n"), "expected titles, found the end"));
    EXPECT_TRUE(has(refusal_of("PSF\n\n"), "expected a section NATOM with atoms, found none"));
    EXPECT_TRUE(
        has(refusal_of(good.substr(0, good.find("TIP3"))), "expected 13 atoms, found the end"));
    EXPECT_TRUE(has(refusal_of(good.substr(0, good.find("!NBOND") + 20)),
                    "expected 10 bonds, found the end of the file (cut short)"));
    EXPECT_TRUE(has(refusal_of(replaced(good, "      11      13", "      11      14")),
                    "expected atoms from 1 to 13 in the 10 bonds, found '14'"));
    EXPECT_TRUE(
        has(refusal_of(replaced(good, "10 !NBOND", " 9 !NBOND")), "expected 9 bonds, found more"));
    EXPECT_TRUE(has(refusal_of(replaced(good, "14.0070", " 14.00x")), "x:7: expected an atom"));
}

TEST(PrmtopFile, HasAtomsBondsAndChainsByBonds) {
    const Topology topology = topology_of(prmtop_text());
    expect_small_system(topology, {"A", "A", "B", ""});
    expect_small_bonds(topology);
    EXPECT_EQ(topology.residues[2].number, 3);
    EXPECT_TRUE(topology.positions.empty());
}

TEST(PrmtopFile, HasElementsNumbersAndChainsOfItsSections) {
    const Topology topology = topology_of(
        prmtop_text("%FLAG ATOMIC_NUMBER\n%FORMAT(10I8)\n"
                    "       7       6       6       7       6       1       6       7      20      "
                    " 6\n       8       1      -1\n"
                    "%FLAG RESIDUE_NUMBER\n%COMMENT x\n%FORMAT(20I4)\n  50  50  -1   0\n"
                    "%FLAG RESIDUE_CHAINID\n%FORMAT(20a4)\nX   X   Y   *\n"
                    "%FLAG RESIDUE_ICODE\n%FORMAT(20a4)\n    A\n"));
    ASSERT_EQ(topology.residues.size(), 4u);
    EXPECT_EQ(topology.atoms[8].element, "Ca");
    EXPECT_EQ(topology.atoms[12].element, "H");
    EXPECT_EQ(topology.residues[0].number, 50);
    EXPECT_EQ(topology.residues[1].insertion, 'A');
    EXPECT_EQ(topology.residues[2].number, -1);
    EXPECT_EQ(topology.residues[2].chain, "Y");
    EXPECT_EQ(topology.residues[3].chain, "");
    EXPECT_TRUE(topology.has_chain_names);
}

TEST(PrmtopFile, DamagedIsRefused) {
    const std::string good = prmtop_text();
    EXPECT_TRUE(has(refusal_of(replaced(good, "%FORMAT(10I8)", "%FORMAT(10-8)")),
                    "x:6: expected a format such as %FORMAT(20a4), found '%FORMAT(10-8)'"));
    EXPECT_TRUE(has(refusal_of(replaced(good, "      13       0", "      14       0")),
                    "x:11: expected 14 values in ATOM_NAME, found 13"));
    EXPECT_TRUE(has(refusal_of(replaced(good, "      13       0", "       0       0")),
                    "x:5: expected the numbers of atoms and residues in POINTERS, found none"));
    EXPECT_TRUE(has(refusal_of(replaced(good, "RESIDUE_LABEL", "RESIDUE_OTHER")),
                    "expected a section RESIDUE_LABEL, found none"));
    EXPECT_TRUE(
        has(refusal_of(replaced(good, "       1       4       8", "       1       9       8")),
            "expected first atoms of residues that rise from 1 to at most 13, found 9 and 8"));
    EXPECT_TRUE(
        has(refusal_of(replaced(good, "      12      15       1", "      12      16       1")),
            "expected multiples of 3 below 39 in BONDS_INC_HYDROGEN, found 16"));
    EXPECT_TRUE(has(refusal_of(good + "%FLAG MASS\n"), "expected each section once"));
    EXPECT_TRUE(has(refusal_of(good.substr(0, good.find("%FLAG BONDS_INC") + 120)),
                    "in BONDS_INC_HYDROGEN, found"));
    EXPECT_TRUE(has(refusal_of(good + "%FLAG ATOMIC_NUMBER\n%FORMAT(1I8)\n      xx\n"),
                    "in ATOMIC_NUMBER"));
}

TEST(TopologyFiles, GoWithATrajectoryOfAsManyAtoms) {
    const ScratchFolder folder;
    const auto xtc = folder.write("x.xtc", xtc_plain_frame(0, 7)),
               psf = folder.write("x.psf", psf_text()), gro = folder.write("x.gro", gro_frame());
    EnsembleOptions options;
    options.topology = psf;
    // Ten atoms are of the protein and seven in no selection of a common name.
    EXPECT_EQ(refusal([&] { read_ensemble({xtc.string()}, options); }),
              xtc.string() + ": expected 13 atoms as in " + psf.string() + ", found 7");
    const auto protein = folder.write("y.xtc", xtc_plain_frame(0, 3));
    EXPECT_EQ(refusal([&] { read_ensemble({protein.string()}, options); }),
              protein.string() + ": expected 13 atoms as in " + psf.string() +
                  ", found 3; the selection 'ca' of " + psf.string() +
                  " has 3 atoms: give a topology of these alone");
    EXPECT_TRUE(has(refusal([&] { read_ensemble({psf.string()}); }),
                    "expected coordinates, found PSF, which names atoms alone: give it as "
                    "--topology"));
    options.assembly = "1";
    EXPECT_TRUE(has(refusal([&] { read_ensemble({gro.string()}, options); }),
                    "cannot build biological assembly '1': PSF files describe none"));
}

TEST(SameMolecule, FollowsBondsOfTheFileOrThoseFound) {
    const std::vector<Index> first = {0, 1, 2, 3, 4, 5, 6};
    for (const std::string& text : {psf_text(), prmtop_text()}) {
        const Topology topology = topology_of(text);
        EXPECT_EQ(select_atoms(topology, "same molecule as name HA"), first);
        EXPECT_EQ(select_atoms(topology, "same fragment as index 9 and ca"),
                  (std::vector<Index>{8}));
        EXPECT_EQ(select_atoms(topology, "not same molecule as (name HA or water)"),
                  (std::vector<Index>{7, 8, 9}));
    }
    // In the GRO file residues lie far apart, and bonds within them are known by names.
    EXPECT_EQ(select_atoms(topology_of(gro_frame()), "same molecule as index 4"),
              (std::vector<Index>{3, 4, 5, 6}));
    const Topology topology = topology_of(psf_text());
    EXPECT_TRUE(has(refusal([&] { select_atoms(topology, "same atom as water"); }),
                    "expected 'residue', 'chain' or 'molecule' after 'same'"));
    EXPECT_TRUE(has(refusal([&] { select_atoms(topology, "fragment"); }),
                    "did you mean 'same molecule as'?"));
}

TEST(SameMolecule, OfSomeAtomsKeepsTheirBonds) {
    const Topology all = topology_of(psf_text());
    const Topology protein = subset(all, select_atoms(all, "index 1 to 9"));
    EXPECT_FALSE(protein.has_all_bonds);
    EXPECT_TRUE(protein.bonds.empty());  // what is left of a molecule would look like another one
    const Topology chains = subset(all, select_atoms(all, "protein"));
    EXPECT_TRUE(chains.has_all_bonds);
    EXPECT_EQ(chains.bonds.size(), 8u);
    EXPECT_EQ(select_atoms(chains, "same molecule as name HA").size(), 7u);
    const Topology last = subset(all, {10, 12});
    // A hydrogen is missing, which connects nothing.
    EXPECT_EQ(last.bonds, (std::vector<std::array<Index, 2>>{{0, 1}}));
    EXPECT_TRUE(last.has_all_bonds);
}

TEST(TopologyFiles, OfTprAreAnsweredWithACommand) {
    const std::string tpr("\0\0\0\x0c\0\0\0\x0bVERSION 4.0\0\0\0\0\4", 24);
    const std::string text = refusal_of(tpr);
    EXPECT_TRUE(has(text, "found TPR"));
    EXPECT_TRUE(has(text, "gmx trjconv -s "));
    EXPECT_TRUE(has(text, " -dump 0 -pbc whole -conect -o topology.pdb"));
}

}  // namespace
