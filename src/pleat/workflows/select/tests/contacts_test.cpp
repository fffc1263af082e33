// Contacts: predicted pairs on atoms of an ensemble whose numbers, chains and atoms differ.
#include "pleat/workflows/select/contacts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat::select {
namespace {

using test::spill;
using test::TemporaryFolder;

constexpr const char* kNames[] = {"ALA", "CYS", "ASP", "GLU", "PHE", "GLY", "HIS",
                                  "ILE", "LYS", "LEU", "MET", "ASN", "PRO", "GLN",
                                  "ARG", "SER", "THR", "VAL", "TRP", "TYR"};
constexpr const char* kLetters = "ACDEFGHIKLMNPQRSTVWY";

std::string atom(int serial, const char* name, const char* residue, char chain, int number,
                 double x, double y) {
    char line[100];
    std::snprintf(line, sizeof line,
                  "ATOM  %5d  %-3s %3s %c%4d    %8.3f%8.3f%8.3f  1.00  0.00           C\n", serial,
                  name, residue, chain, number, x, y, 0.0);
    return line;
}

/// Twenty residues numbered from 101 in a row, 3.8 angstrom apart; CB of residue n at height 1 + n
/// / 100, none in the glycine.
std::string model(char chain) {
    std::string text;
    int serial = 1;
    for (int n = 0; n < 20; ++n) {
        text += atom(serial++, "CA", kNames[n], chain, 101 + n, 3.8 * n, 0);
        if (n != 5) text += atom(serial++, "CB", kNames[n], chain, 101 + n, 3.8 * n, 1 + n / 100.0);
    }
    return text + "TER\n";
}

class ContactsOnAtoms : public testing::Test {
protected:
    ExpectedContacts map(const std::vector<PredictedContact>& pairs, Index count = 100,
                         std::string sequence = kLetters) {
        spill(folder / "a.pdb", model('B') + "END\n");
        const Ensemble ensemble = read_ensemble({(folder / "a.pdb").string()});
        topology = *ensemble.topology;
        frame = Array<float, 2>(Index{3}, ensemble.atom_count());
        std::copy(ensemble.xyz.begin(), ensemble.xyz.end(), frame.begin());
        return expected_contacts({"a.rr", std::move(sequence), pairs},
                                 read_structure(folder / "a.pdb"), topology, count);
    }
    TemporaryFolder folder;
    Topology topology;
    Array<float, 2> frame;
};

TEST_F(ContactsOnAtoms, ArePairsSixOrMoreResiduesApartTheStrongestFirst) {
    const ExpectedContacts found =
        map({{0, 19, 0.9}, {0, 5, 0.8}, {3, 9, 0.7}, {2, 12, 0.6}, {1, 11, 0.0}}, 2);
    ASSERT_EQ(found.contacts.size(), 2U);
    EXPECT_EQ(found.contacts[0].i, 1);
    EXPECT_EQ(found.contacts[0].j, 20);
    EXPECT_EQ(found.contacts[0].name_i, "ALA 101");
    EXPECT_EQ(found.contacts[1].i, 4);  // 1 and 6 stand 5 apart
    EXPECT_EQ(found.chain, "B");
    EXPECT_EQ(found.identity, 1);
    EXPECT_EQ(topology.atoms[static_cast<std::size_t>(found.contacts[0].atom_j)].name, "CB");
}

TEST_F(ContactsOnAtoms, AlignSequencesThatBeginElsewhere) {
    // Three residues more before, two of the chain's missing behind.
    const ExpectedContacts found = map({{3, 12, 0.9}, {0, 9, 0.8}}, 2, "WWWACDEFGHIKLMNPQRSTV");
    ASSERT_EQ(found.contacts.size(), 1U);
    EXPECT_EQ(found.contacts[0].name_i, "ALA 101");
    EXPECT_EQ(found.contacts[0].name_j, "LEU 110");
    EXPECT_EQ(found.pairs_without_atoms, 1);
}

TEST_F(ContactsOnAtoms, MeasureGlycineFromItsCa) {
    const ExpectedContacts found = map({{5, 15, 0.9}});
    EXPECT_EQ(topology.atoms[static_cast<std::size_t>(found.contacts[0].atom_i)].name, "CA");
}

TEST_F(ContactsOnAtoms, RefuseAnotherFamilyAndNoPairs) {
    EXPECT_THROW(map({{0, 9, 0.9}}, 2, "WWWWWWWWWWWWWWWWWWWW"), InputError);
    EXPECT_THROW(map({{0, 3, 0.9}}), InputError);
}

TEST_F(ContactsOnAtoms, AreFormedBelowTheCutoff) {
    const ExpectedContacts found = map({{0, 6, 0.9}, {0, 8, 0.8}});
    std::array<std::uint8_t, 2> marks{9, 9};
    // CB to CB: 22.8 and 30.4 angstrom along x, 0.06 and 0.08 across.
    mark_formed(frame, found.contacts, 22.81, marks.data());
    EXPECT_EQ(marks, (std::array<std::uint8_t, 2>{1, 0}));
    mark_formed(frame, found.contacts, 22.8, marks.data());
    EXPECT_EQ(marks, (std::array<std::uint8_t, 2>{0, 0}));
    mark_formed(frame, found.contacts, 31, marks.data());
    EXPECT_EQ(marks, (std::array<std::uint8_t, 2>{1, 1}));
}

TEST_F(ContactsOnAtoms, FindAtomsOfTheirOwnChainOnly) {
    spill(folder / "two.pdb", model('A') + model('B') + "END\n");
    const Structure structure = read_structure(folder / "two.pdb");
    const Topology both = read_topology(folder / "two.pdb");
    const std::vector<Index> atoms = contact_atoms(structure.chains[1], both);
    ASSERT_EQ(atoms.size(), 20U);
    for (const Index one : atoms) EXPECT_EQ(both.residue_of(one).chain, "B");
}

}  // namespace
}  // namespace pleat::select
