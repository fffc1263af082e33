// MOL2 and XYZ files, and formats of coordinates that are refused by name.
#include <gtest/gtest.h>

#include <string>

#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/tests/refusal.h"
#include "pleat/core/array.h"
#include "pleat/core/notes.h"

namespace {

using namespace pleat;
using pleat::testing::refusal;

const std::string kMol2 =
    "# made\n@<TRIPOS>MOLECULE\nethanol\n 3 2 1 0 0\nSMALL\nNO_CHARGES\n\n@<TRIPOS>ATOM\n"
    "      1 C1      0.0000    0.0000    0.5000 C.3     1  EOH1        0.0000\n"
    "      2 C2      1.5000    0.0000    0.0000 C.3     1  EOH1        0.0000\n"
    "      3 O1      2.0000    1.3000   -0.2500 O.3     1  EOH1        0.0000\n"
    "@<TRIPOS>BOND\n     1     1     2    1\n     2     2     3    1\n";

TEST(Mol2, MoleculesAreFramesMatchedByTheirBonds) {
    std::string reversed = kMol2;
    reversed.replace(reversed.find("1 C1 "), 5, "1 O1 ");
    reversed.replace(reversed.find("C.3"), 3, "O.3");
    reversed.replace(reversed.find("3 O1 "), 5, "3 C1 ");
    reversed.replace(reversed.rfind("O.3"), 3, "C.3");
    const std::string text = kMol2 + reversed;
    const auto reader = open_frames("made.mol2", text);
    EXPECT_EQ(reader->format(), "MOL2");
    EXPECT_EQ(reader->topology()->atom_label(2), "O1 of EOH 1");
    EXPECT_EQ(reader->topology()->atoms[2].element, "O");
    EXPECT_EQ(reader->topology()->bonds.size(), 2u);
    Array<float, 2> frame(3, Index{3});
    ASSERT_TRUE(reader->next(frame));
    EXPECT_EQ(frame(0, 2), 2);
    ASSERT_TRUE(reader->next(frame));
    EXPECT_EQ(frame(0, 2), 0);
    EXPECT_FALSE(reader->next(frame));
    EXPECT_EQ(count(reader->notes(), NoteKind::matching), 1);
}

TEST(Mol2, TypesOfAmberTellElementsToo) {
    std::string text = kMol2;
    text.replace(text.find("C.3"), 3, "CT ");
    text.replace(text.find("C.3"), 3, "ca ");
    text.replace(text.find("O.3"), 3, "OS ");
    const std::shared_ptr<const Topology> atoms = open_frames("made.mol2", text)->topology();
    EXPECT_EQ(atoms->atoms[0].element + atoms->atoms[1].element + atoms->atoms[2].element, "CCO");
}

TEST(Mol2, RefusesWhatIsBroken) {
    const auto told = [](const std::string& from, const std::string& to) {
        std::string text = kMol2;
        text.replace(text.find(from), from.size(), to);
        return refusal([&] { open_frames("made.mol2", text); });
    };
    EXPECT_NE(told(" 3 2 1", " x 2 1").find("made.mol2:4: "), std::string::npos);
    EXPECT_NE(told("1.5000 ", "1.5o00 ").find("expected an atom"), std::string::npos);
    EXPECT_NE(told("2     3    1", "2     4    1").find("two atoms from 1 to 3"),
              std::string::npos);
    EXPECT_NE(told(" 3 2 1", " 9 2 1").find("cut short"), std::string::npos);
    EXPECT_NE(told(" 3 2 1", " 3 7 1").find("cut short"), std::string::npos);
}

TEST(Xyz, FramesHaveElementsAndMayHaveCells) {
    const std::string text =
        "3\nLattice=\"5 0 0 0 6 0 0 0 7\" Properties=species:S:1:pos:R:3\nO 0 0 0\nH 1 0 0\n8 2 3 "
        "4.5\n3\n\nO 1 1 1\nH 2 0 0\nO 5 5 5\n";
    const auto reader = open_frames("made.xyz", text);
    EXPECT_EQ(reader->format(), "XYZ");
    EXPECT_EQ(reader->topology(), nullptr);
    EXPECT_EQ(reader->atoms_by_order()->atoms[2].name, "O2");
    Array<float, 2> frame(3, Index{3});
    ASSERT_TRUE(reader->next(frame));
    EXPECT_EQ(frame(2, 2), 4.5F);
    EXPECT_EQ(reader->cell().vectors[1][1], 6);
    ASSERT_TRUE(reader->next(frame));
    EXPECT_FALSE(reader->cell().exists());
    EXPECT_FALSE(reader->next(frame));
}

TEST(Xyz, RefusesOtherAtomsAndCutFrames) {
    const auto told = [](const std::string& text) {
        return refusal([&] {
            const auto reader = open_frames("made.xyz", text);
            Array<float, 2> frame(3, reader->atom_count());
            while (reader->next(frame)) {
            }
        });
    };
    const std::string one = "2\n\nC 0 0 0\nO 1 0 0\n";
    EXPECT_EQ(told(one + one), "");
    EXPECT_NE(told(one + "3\n\nC 0 0 0\nO 1 0 0\nO 1 0 0\n").find("expected 2 atoms"),
              std::string::npos);
    EXPECT_NE(told(one + "2\n\nO 0 0 0\nC 1 0 0\n").find("expected element C for atom 0"),
              std::string::npos);
    EXPECT_NE(told(one + "2\n\nC 0 0 0\n").find("cut short"), std::string::npos);
    EXPECT_NE(told("2\n\nC 0 0 0\nO 1 0 x\n").find("made.xyz:4: frame 0"), std::string::npos);
}

TEST(Dialect, OtherFormatsAreNamed) {
    const auto told = [](const std::string& text) {
        return refusal([&] { open_frames("made", text); });
    };
    const std::string numbers = "   1.000   2.000   3.000   4.000   5.000   6.000";
    EXPECT_NE(told("title\n" + numbers + "\n").find("mdcrd"), std::string::npos);
    EXPECT_NE(told("title\n    2\n   1.0000000   2.0000000   3.0000000   4.0000000   5.0000000   "
                   "6.0000000\n")
                  .find("rst7"),
              std::string::npos);
    EXPECT_NE(told("2 made\n1 C 0 0 0 5 2\n2 C 1 0 0 5 1\n").find("Tinker"), std::string::npos);
    EXPECT_NE(told("ITEM: TIMESTEP\n0\n").find("LAMMPS"), std::string::npos);
    EXPECT_NE(told("* made\n*\n    1\n").find("CRD"), std::string::npos);
    EXPECT_NE(told("\x89HDF\r\n\x1a\n0000000").find("HDF5"), std::string::npos);
}

}  // namespace
