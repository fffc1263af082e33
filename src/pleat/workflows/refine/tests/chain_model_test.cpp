// Chain model: angles, bonds and refusals.
#include "pleat/workflows/refine/chain/chain_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/workflows/refine/moves/random.h"
#include "pleat/workflows/refine/tests/made_chain.h"

namespace pleat::refine {

namespace {

using pleat::test::error_text;
using test::add_peptide;
using test::kDegree;
using test::made_model;
using test::MadeChain;

std::vector<double> random_angles(const ChainModel& model, std::uint64_t seed) {
    Random random(seed, 0, 0);
    std::vector<double> angles(model.hinges.size());
    for (std::size_t n = 0; n < angles.size(); ++n)
        angles[n] = model.hinges[n].kind == HingeKind::bend ? 0.1 * (random.uniform() - 0.5)
                                                            : 6.0 * (random.uniform() - 0.5);
    return angles;
}

TEST(ResidueRanges, ReadsChainsAndInsertionCodes) {
    const auto ranges = parse_ranges("A:289-301,310,B:-5-52A", "--linkers");
    ASSERT_EQ(ranges.size(), 3u);
    EXPECT_EQ(ranges[0].text(), "A:289-301");
    EXPECT_EQ(ranges[1].text(), "A:310");
    EXPECT_EQ(ranges[2].text(), "B:-5-52A");
    EXPECT_THROW(parse_ranges("A:", "--linkers"), UsageError);
    EXPECT_THROW(parse_ranges("A:1-5,", "--linkers"), UsageError);
    EXPECT_THROW(parse_ranges("A:1-5 B:2", "--linkers"), UsageError);
}

TEST(ChainModel, HasPhiAndPsiOfEachResidueAndNoPhiOfProline) {
    const ChainModel model = made_model("AAAAAAGPVAAAAAAAAAAAAAAAA", "A:6-9");
    ASSERT_EQ(model.residues.size(), 4u);
    for (const LinkerResidue& residue : model.residues) {
        const bool is_proline = residue_label(model.topology->residue_of(residue.ca)) == "A:8";
        EXPECT_EQ(residue.phi_hinge < 0, is_proline)
            << residue_label(model.topology->residue_of(residue.ca));
        EXPECT_EQ(residue.bend_hinge < 0, is_proline)
            << residue_label(model.topology->residue_of(residue.ca));
        EXPECT_GE(residue.psi_hinge, 0);
        EXPECT_NEAR(residue.phi, -120 * kDegree, 1e-4);
        EXPECT_NEAR(residue.psi, 130 * kDegree, 1e-4);
        EXPECT_NEAR(residue.bend, 111 * kDegree, 1e-4);
    }
    EXPECT_EQ(model.hinge_count(), 3 * 3 + 1);
    EXPECT_EQ(model.residues[0].residue_class, ResidueClass::other);
    EXPECT_EQ(model.residues[1].residue_class, ResidueClass::glycine);
    EXPECT_EQ(model.residues[2].residue_class, ResidueClass::proline);
    EXPECT_EQ(model.residues[3].residue_class, ResidueClass::beta_branched);
    ASSERT_EQ(model.domains.size(), 2u);
    EXPECT_EQ(model.domains[0].name, "A:10-25");  // the larger one is the root
    EXPECT_EQ(model.domains[0].piece, 0);
    EXPECT_EQ(model.domains[1].name, "A:1-5");
}

TEST(ChainModel, AnglesOfHingesAreTorsionsAndBondsKeepTheirLength) {
    // Two linkers, so that pieces hang on both ends of the root.
    for (const char* linkers : {"A:6-9,A:20-24", "A:1-4,A:26-30", "A:12-15"}) {
        const ChainModel model = made_model("AAAAAAGPVAAAAAAAAAAAAGVAAAAAAA", linkers);
        Conformation conformation(model);
        conformation.set_angles(random_angles(model, 3));
        for (const LinkerResidue& residue : model.residues) {
            const auto at = [&](Index atom) { return conformation.atom(atom); };
            if (residue.has_phi) {
                EXPECT_NEAR(wrapped(dihedral_angle(at(residue.previous_c), at(residue.n),
                                                   at(residue.ca), at(residue.c)) -
                                    conformation.phi(residue)),
                            0, 1e-9)
                    << linkers << " " << residue_label(model.topology->residue_of(residue.ca));
            }
            if (residue.has_psi) {
                EXPECT_NEAR(wrapped(dihedral_angle(at(residue.n), at(residue.ca), at(residue.c),
                                                   at(residue.n_behind)) -
                                    conformation.psi(residue)),
                            0, 1e-9)
                    << linkers << " " << residue_label(model.topology->residue_of(residue.ca));
            }
            EXPECT_NEAR(bond_angle(at(residue.n), at(residue.ca), at(residue.c)),
                        conformation.bend(residue), 1e-9);
        }
        // All that is bonded keeps its length; with O and CB on the right side of their C and CA.
        for (Index a = 0; a < model.atom_count(); ++a)
            for (Index b = a + 1; b < std::min(model.atom_count(), a + 9); ++b) {
                const double before = distance(model.start[static_cast<std::size_t>(a)],
                                               model.start[static_cast<std::size_t>(b)]);
                if (before < 1.7) {
                    EXPECT_NEAR(distance(conformation.atom(a), conformation.atom(b)), before, 1e-9);
                }
            }
    }
}

TEST(ChainModel, NoSubtreeHasMoreThanHalfOfTheAtoms) {
    for (const char* linkers : {"A:3-5", "A:24-27", "A:13-18", "A:2-29"}) {
        const ChainModel model = made_model("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", linkers);
        std::vector<Index> atoms(static_cast<std::size_t>(model.piece_count()));
        for (const Index piece : model.piece_of) ++atoms[static_cast<std::size_t>(piece)];
        for (Index piece = 1; piece < model.piece_count(); ++piece) {
            Index sum = 0;
            for (Index n = piece; n < model.subtree_end[static_cast<std::size_t>(piece)]; ++n)
                sum += atoms[static_cast<std::size_t>(n)];
            EXPECT_LE(2 * sum, model.atom_count()) << linkers << " " << piece;
        }
    }
}

TEST(ChainModel, LinkersAreWhatRigidResiduesLeave) {
    MadeChain made;
    add_peptide(made, "AAAAAAAAAAAAAAAAAAAA", "A");
    const auto linkers = linkers_between(*made.topology, parse_ranges("A:3-8,A:12-18", "--rigid"));
    ASSERT_EQ(linkers.size(), 3u);
    EXPECT_EQ(linkers[0].text(), "A:1-2");
    EXPECT_EQ(linkers[1].text(), "A:9-11");
    EXPECT_EQ(linkers[2].text(), "A:19-20");
}

TEST(ChainModel, RefusesLinkersInOneLine) {
    const auto refusal = [](const std::string& linkers) {
        return error_text<InputError>([&] { made_model("AAAAAAAAAAAAAAAAAAAA", linkers); });
    };
    EXPECT_NE(refusal("A:5-9,A:8-12").find("do not overlap, found A:8 in A:5-9 and A:8-12"),
              std::string::npos);
    EXPECT_NE(refusal("B:5-9").find("expected one of the protein chains 'A', found 'B'"),
              std::string::npos);
    EXPECT_NE(refusal("A:15-25").find("expected residue 25 of A:15-25"), std::string::npos);
    EXPECT_NE(refusal("A:9-5").find("whose first residue comes first"), std::string::npos);
}

TEST(ChainModel, RefusesALinkerWithoutARotatableBond) {
    MadeChain made;
    add_peptide(made, "P", "A");
    EXPECT_NE(error_text<InputError>([&] {
                  make_chain_model(made.topology, made.xyz(),
                                   {.linkers = parse_ranges("A:1", "--linkers")});
              }).find("a rotatable bond, found none"),
              std::string::npos);
}

TEST(ChainModel, RefusesAGapInALinker) {
    MadeChain made;
    add_peptide(made, "AAAAAAAAAA", "A");
    for (std::size_t n = 25; n < made.atoms.size(); ++n) made.atoms[n].x += 20;
    EXPECT_NE(error_text<InputError>([&] {
                  make_chain_model(made.topology, made.xyz(),
                                   {.linkers = parse_ranges("A:3-6", "--linkers")});
              }).find("found no bond between A:5 and A:6"),
              std::string::npos);
}

/// Two sulfurs at bonding distance.
void add_disulfide(MadeChain& made, Index residue_a, Index residue_b) {
    for (const Index residue : {residue_a, residue_b}) {
        made.topology->atoms.push_back({"SG", "S", 32.0, residue});
        made.atoms.push_back({30, 0, residue == residue_a ? 0.0 : 2.0});
    }
}

TEST(ChainModel, NamesADisulfideBondThatClosesALoop) {
    MadeChain made;
    add_peptide(made, "AACAAAAAAAAAAAACAAAA", "A");
    add_disulfide(made, 2, 15);
    EXPECT_NE(error_text<InputError>([&] {
                  make_chain_model(made.topology, made.xyz(),
                                   {.linkers = parse_ranges("A:7-10", "--linkers")});
              }).find("the disulfide bond A:3-A:16 closes one through linker A:7-10"),
              std::string::npos);
    // A linker outside the loop is free.
    EXPECT_EQ(make_chain_model(made.topology, made.xyz(),
                               {.linkers = parse_ranges("A:18-20", "--linkers")})
                  .residues.size(),
              3u);
}

TEST(ChainModel, SulfursThatOnlyCameToLieTogetherHaveNoBond) {
    MadeChain made;
    add_peptide(made, "AACAAAAAAAAAAAACAAAA", "A");
    add_disulfide(made, 2, 15);
    ChainOptions options{.linkers = parse_ranges("A:7-10", "--linkers")};
    for (const Topology::Atom& atom : made.topology->atoms)
        options.units.push_back(atom.residue < 7 ? 0 : 1);  // moved apart from one another
    EXPECT_EQ(make_chain_model(made.topology, made.xyz(), options).residues.size(), 4u);
    for (Index& unit : options.units) unit = -1;  // built
    EXPECT_EQ(make_chain_model(made.topology, made.xyz(), options).residues.size(), 4u);
    for (Index& unit : options.units) unit = 3;
    EXPECT_NE(error_text<InputError>([&] {
                  make_chain_model(made.topology, made.xyz(), options);
              }).find("the disulfide bond A:3-A:16"),
              std::string::npos);
}

TEST(ChainModel, NamesTheDisulfideBondsOfTrypsin) {
    const Ensemble trypsin =
        read_ensemble({(pleat::test::data_folder() / "1ql9_A.pdb.gz").string()},
                      {.topology = {}, .select = "protein", .range = {}});
    EXPECT_NE(error_text<InputError>([&] {
                  make_chain_model(trypsin.topology, trypsin.xyz.view()[0],
                                   {.linkers = parse_ranges("A:118-122", "--linkers")});
              }).find("closes one through linker A:118-122"),
              std::string::npos);
}

TEST(ChainModel, ChainsWithoutLinkersMoveWithWhatTheyTouch) {
    MadeChain made;
    add_peptide(made, "AAAAAAAAAAAAAAAAAAAA", "A");
    const Vector end = made.atoms.back();
    add_peptide(made, "AAAAAA", "B", -120, 130, end + Vector{3, 3, 0});
    const ChainModel model = make_chain_model(made.topology, made.xyz(),
                                              {.linkers = parse_ranges("A:9-12", "--linkers")});
    ASSERT_EQ(model.notes.size(), 1u);
    EXPECT_EQ(model.notes[0].text,
              "chain 'B' moves with the rigid domain that it touches most: that of A:13");
    EXPECT_EQ(model.piece_of.back(), model.piece_of[60]);
    ASSERT_EQ(model.domains.size(), 2u);
}

TEST(ChainModel, FlexibleChainsNeedAGroup) {
    MadeChain made;
    add_peptide(made, "AAAAAAAAAAAAAAAAAAAA", "A");
    add_peptide(made, "AAAAAAAAAAAAAAAAAAAA", "B", -120, 130, {0, 30, 0});
    const ChainOptions options{.linkers = parse_ranges("A:9-12,B:9-12", "--linkers")};
    EXPECT_NE(error_text<InputError>([&] { make_chain_model(made.topology, made.xyz(), options); })
                  .find("between linker A:9-12 and linker B:9-12; join rigid residues of both by "
                        "--group, which must be in one model of one file"),
              std::string::npos);
    ChainOptions grouped = options;
    grouped.groups = {parse_ranges("A:1-8,B:1-8", "--group")};
    const ChainModel model = make_chain_model(made.topology, made.xyz(), grouped);
    ASSERT_EQ(model.domains.size(), 3u);
    EXPECT_EQ(model.domains[0].name, "A:1-8,B:1-8");
    grouped.groups.push_back(parse_ranges("A:13-20,B:13-20", "--group"));
    EXPECT_NE(error_text<InputError>([&] { make_chain_model(made.topology, made.xyz(), grouped); })
                  .find("the group A:13-20,B:13-20 closes one through linker A:9-12 and linker "
                        "B:9-12"),
              std::string::npos);
}

TEST(ChainModel, RefusesAGroupThatJoinsNothing) {
    MadeChain made;
    add_peptide(made, "AAAAAAAAAAAAAAAAAAAA", "A");
    add_peptide(made, "AAAAAAAAAAAAAAAAAAAA", "B", -120, 130, {0, 30, 0});
    ChainOptions options{.linkers = parse_ranges("A:9-12,B:9-12", "--linkers"),
                         .groups = {parse_ranges("A:1-3,A:5-8", "--group")}};
    const auto refusal = [&] {
        return error_text<InputError>(
            [&] { make_chain_model(made.topology, made.xyz(), options); });
    };
    EXPECT_NE(refusal().find("expected a group of domains that can move apart, found "
                             "A:1-3,A:5-8, which move as one anyway"),
              std::string::npos);
    // The first group joins what the second names.
    options.groups = {parse_ranges("A:1-8,B:1-8", "--group"),
                      parse_ranges("A:1-2,B:1-2", "--group")};
    EXPECT_NE(refusal().find("found A:1-2,B:1-2, which"), std::string::npos);
    options.groups.pop_back();
    EXPECT_EQ(make_chain_model(made.topology, made.xyz(), options).domains.size(), 3u);
}

}  // namespace

}  // namespace pleat::refine
