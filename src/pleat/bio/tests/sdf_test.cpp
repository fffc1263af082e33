// SDF files: poses, another order of atoms, and each way in which a file can be broken.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "pleat/bio/ensemble/ensemble_reader.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/structure/equivalent_atoms.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/data_folders.h"

namespace pleat {
namespace {

const std::string kEthanol =
    "ethanol\n  made\n\n  4  3  0  0  0  0            999 V2000\n"
    "    0.0000    0.0000    0.5000 C   0  0\n"
    "    1.5000    0.0000    0.0000 C   0  0\n"
    "    2.0000    1.3000   -0.2500 O   0  0\n"
    "    2.9000    1.3000   -0.2500 H   0  0\n"
    "  1  2  1  0\n  2  3  1  0\n  3  4  1  0\nM  END\n> <score>\n-7.1\n\n$$$$\n";
/// The same without its hydrogen, from the oxygen on, moved by 10.
const std::string kReversed =
    "ethanol\n\n\n  3  2  0  0  0  0            999 V2000\n"
    "   12.0000    1.3000   -0.2500 O   0  0\n"
    "   11.5000    0.0000    0.0000 C   0  0\n"
    "   10.0000    0.0000    0.5000 C   0  0\n"
    "  1  2  1  0\n  2  3  1  0\nM  END\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    return text;
}

std::string told(const std::string& text) {
    try {
        const auto reader = open_frames("made.sdf", text);
        Array<float, 2> frame(3, reader->atom_count());
        while (reader->next(frame)) {
        }
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST(Sdf, GivesEachRecordAsAFrame) {
    const std::string text = kEthanol + replaced(kEthanol, "    2.0000", "    2.2500") + "\n";
    const auto reader = open_frames("made.sdf", text);
    EXPECT_EQ(reader->format(), "SDF");
    const Topology& topology = *reader->topology();
    ASSERT_EQ(topology.atom_count(), 4);
    EXPECT_EQ(topology.atom_label(1), "C2 of LIG 1");
    EXPECT_EQ(topology.atoms[3].element, "H");
    EXPECT_EQ(topology.bonds, (std::vector<std::array<Index, 2>>{{0, 1}, {1, 2}, {2, 3}}));
    EXPECT_EQ(topology.bond_orders, (std::vector<std::uint8_t>{1, 1, 1}));
    Array<float, 2> frame(3, Index{4});
    ASSERT_TRUE(reader->next(frame));
    EXPECT_EQ(frame(0, 2), 2.0F);
    EXPECT_EQ(frame(2, 2), -0.25F);
    ASSERT_TRUE(reader->next(frame));
    EXPECT_EQ(frame(0, 2), 2.25F);
    EXPECT_FALSE(reader->next(frame));
    EXPECT_TRUE(reader->notes().empty());
    EXPECT_EQ(told(replaced(kEthanol, "$$$$\n", "")), "");  // a MOL file has no end of a record
}

/// kEthanol in the format V3000, with numbers of atoms that are any, and a line that is continued.
const std::string kEthanolV3000 =
    "ethanol\n  made\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\n"
    "M  V30 COUNTS 4 3 0 0 0\nM  V30 BEGIN ATOM\nM  V30 7 C 0 0 0.5 0\n"
    "M  V30 2 C 1.5 0 -\nM  V30 0 0 CHG=0\nM  V30 3 O 2 1.3 -0.25 0\n"
    "M  V30 30 H 2.9 1.3 -0.25 0\nM  V30 END ATOM\nM  V30 BEGIN BOND\nM  V30 1 1 7 2\n"
    "M  V30 2 1 2 3 CFG=1\nM  V30 3 1 3 30\nM  V30 END BOND\nM  V30 BEGIN SGROUP\n"
    "M  V30 END SGROUP\nM  V30 END CTAB\nM  END\n> <score>\n-7.1\n\n$$$$\n";

TEST(Sdf, ReadsV3000AsV2000) {
    const auto expected = open_frames("made.sdf", kEthanol);
    const auto reader = open_frames("made.sdf", kEthanolV3000 + kEthanolV3000 + kEthanol);
    const Topology &topology = *reader->topology(), &old = *expected->topology();
    ASSERT_EQ(topology.atom_count(), old.atom_count());
    for (Index n = 0; n < 4; ++n) EXPECT_EQ(topology.atom_label(n), old.atom_label(n));
    EXPECT_EQ(topology.bonds, old.bonds);
    EXPECT_EQ(topology.bond_orders, old.bond_orders);
    Array<float, 2> frame(3, Index{4}), wanted(3, Index{4});
    ASSERT_TRUE(expected->next(wanted));
    for (int record = 0; record < 3; ++record) {
        ASSERT_TRUE(reader->next(frame));
        EXPECT_TRUE(std::equal(frame.begin(), frame.end(), wanted.begin())) << record;
    }
    EXPECT_FALSE(reader->next(frame));
    EXPECT_TRUE(reader->notes().empty());
}

TEST(Sdf, TellsWhatIsBrokenInV3000) {
    const auto expect = [](const std::string& from, const std::string& to,
                           const std::string& text) {
        const std::string found = told(replaced(kEthanolV3000, from, to));
        EXPECT_NE(found.find(text), std::string::npos) << found;
    };
    expect("BEGIN CTAB", "BEGIN RGROUP", "made.sdf:5: frame 0: expected BEGIN CTAB, found");
    expect("COUNTS 4 3", "COUNTS four 3", "expected the numbers of atoms and bonds behind COUNTS");
    expect("COUNTS 4 3", "COUNTS 0 3", "expected the numbers of atoms and bonds behind COUNTS");
    expect("COUNTS 4 3", "COUNTS 5 3",
           "made.sdf:13: frame 0: expected a number, an element and three coordinates, found 'END");
    expect("COUNTS 4 3", "COUNTS 3 3", "expected END ATOM, found '30 H 2.9 1.3 -0.25 0'");
    expect("COUNTS 4 3", "COUNTS 4 2", "expected END BOND, found '3 1 3 30'");
    expect("7 C 0 0", "7 C 0 x", "made.sdf:8: frame 0: expected a number, an element and three");
    expect("3 O 2", "3 R# 2", "expected an element, found 'R#'");
    expect("3 O 2", "7 O 2", "expected each atom once, found atom 7 again");
    expect("1 1 7 2", "1 1 7 8", "expected a number, an order from 1 to 4 and two atoms");
    expect("1 1 7 2", "1 9 7 2", "expected a number, an order from 1 to 4 and two atoms");
    expect("M  V30 END BOND", "M  END", "expected the end of the bonds in a line of M  V30");
    EXPECT_NE(told(kEthanolV3000.substr(0, kEthanolV3000.find("M  V30 30 H"))).find("cut short"),
              std::string::npos);
    EXPECT_NE(
        told(replaced(kEthanolV3000, "CHG=0\n", "CHG=0-\n" + std::string(1 << 20, '0') + "\n"))
            .find("expected an atom in a line of M  V30"),
        std::string::npos);
}

TEST(Sdf, MatchesAtomsOfAnotherOrder) {
    const auto first = open_frames("made.sdf", kEthanol);
    const auto reader = open_frames("other.sdf", kReversed);
    reader->match(first->topology(), {0, 1, 2});
    Array<float, 2> frame(3, Index{4});
    ASSERT_TRUE(reader->next(frame));
    const std::array<float, 3> moved{10, 11.5, 12};
    for (Index n = 0; n < 3; ++n) EXPECT_EQ(frame(0, n), moved[static_cast<std::size_t>(n)]);
    ASSERT_EQ(reader->notes().size(), 1U);
    EXPECT_EQ(
        reader->notes()[0].text,
        "other.sdf: frame 0: atoms in another order than in made.sdf: matched by elements and "
        "bonds (--symmetry ligand compares all ways to do so)");
    EXPECT_TRUE(std::isnan(frame(0, 3)));
    // The hydrogen has no place.
    const auto again = open_frames("other.sdf", kReversed);
    again->match(first->topology(), {0, 1, 2, 3});
    EXPECT_THROW(again->next(frame), MissingAtoms);
    // Other orders of bonds are matched, and told; other bonds are not.
    const auto twice = open_frames("other.sdf", replaced(kReversed, "  1  2  1", "  1  2  2"));
    twice->match(first->topology(), {0, 1, 2});
    ASSERT_TRUE(twice->next(frame));
    ASSERT_EQ(twice->notes().size(), 1U);
    EXPECT_NE(twice->notes()[0].text.find("and bonds of other orders"), std::string::npos);
    EXPECT_EQ(
        told(kEthanol + replaced(kReversed, "  2  3  1", "  1  3  1")),
        "made.sdf:26: frame 1: expected the molecule of made.sdf, C2 O1, 3 heavy atoms, found "
        "C2 O1, 3 heavy atoms with other bonds");
    EXPECT_NE(told(kEthanol + replaced(kReversed, " O ", " N ")).find("found C2 N1, 3 heavy atoms"),
              std::string::npos);
}

TEST(Sdf, KeepsAtomsWhoseBondsAreListedInAnotherOrder) {
    // Two equal oxygens, which a match by bonds may exchange.
    const std::string acid =
        "acid\n\n\n  3  2  0  0  0  0            999 V2000\n"
        "    0.0000    0.0000    0.5000 C   0  0\n"
        "    1.2500    0.0000    0.0000 O   0  0\n"
        "   -0.5000    1.1000    0.0000 O   0  0\n"
        "  1  2  2  0\n  1  3  1  0\nM  END\n";
    const std::string listed =
        replaced(acid, "  1  2  2  0\n  1  3  1  0", "  3  1  1  0\n  1  2  2  0");
    const auto first = open_frames("made.sdf", acid);
    const auto reader = open_frames("other.sdf", listed);
    reader->match(first->topology(), {0, 1, 2});
    Array<float, 2> frame(3, Index{3});
    ASSERT_TRUE(reader->next(frame));
    EXPECT_EQ(frame(0, 1), 1.25F);
    EXPECT_EQ(frame(0, 2), -0.5F);
    EXPECT_TRUE(reader->notes().empty()) << reader->notes()[0].text;
}

TEST(Sdf, TellsWhatIsBroken) {
    const auto expect = [](const std::string& from, const std::string& to,
                           const std::string& text) {
        EXPECT_NE(told(replaced(kEthanol, from, to)).find(text), std::string::npos)
            << told(replaced(kEthanol, from, to));
    };
    expect("V2000", "V3000",
           "made.sdf:5: frame 0: expected the begin of the table in a line of M  V30, found");
    expect("  4  3  0", "  x  3  0", "expected a line with the numbers of atoms and bonds");
    expect("  4  3  0", "  0  3  0", "expected a line with the numbers of atoms and bonds");
    expect("    1.5000", "    1.5x00",
           "made.sdf:6: frame 0: expected coordinates in columns 1 to 30");
    expect(" O   0", " R#  0",
           "made.sdf:7: frame 0: expected an element in columns 32 to 34, found 'R#'");
    expect("  2  3  1", "  2  5  1", "expected a bond of two atoms from 1 to 4");
    expect("  2  3  1", "  2  2  1", "expected a bond of two atoms from 1 to 4");
    expect("  2  3  1", "  2  3  9", "with an order from 1 to 4");
    expect("  4  3  0", "  9  3  0", "expected coordinates in columns 1 to 30");
    EXPECT_NE(told(kEthanol.substr(0, kEthanol.find("    2.0000"))).find("cut short"),
              std::string::npos);
    EXPECT_NE(told(kEthanol + "ethanol\n  made\n").find("cut short"), std::string::npos);
    const auto flat = open_frames(
        "made.sdf", replaced(replaced(replaced(replaced(kEthanol, "    0.5000 C", "    0.0000 C"),
                                               "   -0.2500 O", "    0.0000 O"),
                                      "   -0.2500 H", "    0.0000 H"),
                             "made", "flat"));
    ASSERT_EQ(flat->notes().size(), 1U);
    EXPECT_NE(flat->notes()[0].text.find("is flat"), std::string::npos);
}

TEST(Sdf, OfDockedLigands) {
    EnsembleOptions options;
    options.select = "heavy";
    EnsembleReader reader({(test::data_folder() / "1a4k_dock.sdf.gz").string()}, options);
    EXPECT_EQ(reader.atom_count(), 31);
    Array<float, 2> frame(3, Index{31});
    int frames = 0;
    while (reader.next(frame)) ++frames;
    EXPECT_EQ(frames, 10);
    std::vector<Index> heavy;
    for (Index n = 0; n < reader.all_atoms()->atom_count(); ++n)
        if (reader.all_atoms()->atoms[n].element != "H") heavy.push_back(n);
    const auto ligands = ligand_orders(*reader.all_atoms(), heavy);
    ASSERT_EQ(ligands.size(), 1U);
    // The sides of a ring, two bridges of a bicycle, and the oxygens of a carboxyl group.
    EXPECT_EQ(ligands[0].orders.size(), 8U);
}

}  // namespace
}  // namespace pleat
