// Contacts: which atoms are measured, what is missing, and the cut-offs.
#include "pleat/bio/structure/known_structure.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pleat/core/error.h"

namespace {

using namespace pleat;

Residue residue(char letter, std::vector<Atom> atoms) {
    Residue result;
    result.letter = letter;
    result.atoms = std::move(atoms);
    return result;
}

/// Alanine, glycine with a stray CB, leucine without CB, serine without either.
Chain protein() {
    Chain chain;
    chain.residues.push_back(residue('A', {{"CA", "C", 0, 0, 0}, {"CB", "C", 0, 3, 0}}));
    chain.residues.push_back(residue('G', {{"CA", "C", 4, 0, 0}, {"CB", "C", 90, 0, 0}}));
    chain.residues.push_back(residue('L', {{"CA", "C", 0, 3, 12}, {"HA", "H", 0, 3, 1}}));
    chain.residues.push_back(residue('S', {{"N", "N", 0, 3, 5}, {"D", "D", 0, 3, 0}}));
    return chain;
}

TEST(Contacts, MeasuresBetweenBetaCarbons) {
    const auto distances = column_distances(protein(), {0, 1, -1, 2, 3}, ContactAtoms::beta);
    EXPECT_DOUBLE_EQ(distances(0, 1), 5.0);  // CB to the glycine's CA
    EXPECT_DOUBLE_EQ(distances(1, 0), 5.0);
    EXPECT_DOUBLE_EQ(distances(0, 3), 12.0);  // CB to the CA that stands in for a missing CB
    EXPECT_DOUBLE_EQ(distances(1, 3), 13.0);
    EXPECT_EQ(distances(0, 0), 0.0);
    for (Index i = 0; i < 5; ++i) {
        EXPECT_TRUE(std::isnan(distances(i, 2))) << "column without a residue";
        EXPECT_TRUE(std::isnan(distances(2, i)));
        EXPECT_TRUE(std::isnan(distances(i, 4))) << "residue without CA and CB";
        EXPECT_TRUE(std::isnan(distances(4, i)));
    }
}

TEST(Contacts, HeavyAtomsLeaveHydrogensOut) {
    const auto distances = column_distances(protein(), {0, 2, 3}, ContactAtoms::heavy);
    EXPECT_DOUBLE_EQ(distances(0, 1), 12.0);
    EXPECT_DOUBLE_EQ(distances(0, 2), 5.0);
    EXPECT_DOUBLE_EQ(distances(1, 2), 7.0);
}

TEST(Contacts, SugarsOfNucleicAcidsByBothNames) {
    Chain chain;
    chain.kind = Chain::Kind::nucleic;
    chain.residues.push_back(residue('A', {{"P", "P", 0, 0, 0}, {"C1'", "C", 1, 0, 0}}));
    chain.residues.push_back(residue('U', {{"C1*", "C", 11, 0, 0}}));
    const auto distances = column_distances(chain, {0, 1}, ContactAtoms::sugar);
    EXPECT_DOUBLE_EQ(distances(0, 1), 10.0);
    EXPECT_THROW(column_distances(chain, {0, 1}, ContactAtoms::beta), UsageError);
    EXPECT_THROW(column_distances(protein(), {0, 1}, ContactAtoms::sugar), UsageError);
}

TEST(Contacts, DefinitionsHaveTheirCutOffs) {
    const auto protein_default = ContactDefinition::standard(Chain::Kind::protein);
    EXPECT_EQ(protein_default.atoms, ContactAtoms::beta);
    EXPECT_EQ(protein_default.cutoff, 8.0);
    EXPECT_EQ(ContactDefinition::standard(Chain::Kind::nucleic).atoms, ContactAtoms::heavy);
    EXPECT_EQ(
        ContactDefinition::with_default_cutoff(ContactAtoms::heavy, Chain::Kind::protein).cutoff,
        5.0);
    EXPECT_EQ(parse_contact_atoms("sugar"), ContactAtoms::sugar);
    EXPECT_EQ(parse_contact_atoms("cb"), ContactAtoms::beta);
    EXPECT_EQ(name_of(ContactAtoms::heavy), "heavy");
    EXPECT_THROW(parse_contact_atoms("alpha"), UsageError);
}

}  // namespace
