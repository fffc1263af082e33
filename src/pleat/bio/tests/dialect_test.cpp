// Dialects of coordinate files: PDB columns that programs use in their own ways, blocks of mmCIF,
// units of NetCDF, titles of DCD, and index groups.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/bio/selection/selection_terms.h"
#include "pleat/bio/structure/equivalent_atoms.h"
#include "pleat/bio/structure/missing_names.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/bio/tests/refusal.h"
#include "pleat/bio/tests/scratch_file.h"
#include "pleat/bio/tests/structure_text.h"
#include "pleat/bio/tests/written_trajectory.h"
#include "pleat/core/notes.h"

namespace {

using namespace pleat;
using pleat::testing::Bytes;
using pleat::testing::refusal;
using pleat::testing::ScratchFolder;

/// An alpha carbon with `columns` as columns 18 to 27 (residue name, chain, number, insertion).
std::string line(const std::string& columns, double x, const std::string& segment = "",
                 const std::string& start = "ATOM      1", char altloc = ' ',
                 double occupancy = 1) {
    char text[128];
    std::snprintf(text, sizeof text, "%s  CA %c%-10s   %8.3f%8.3f%8.3f%6.2f%6.2f      %-4s%2s\n",
                  start.c_str(), altloc, columns.c_str(), x, 0.0, 0.0, occupancy, 0.0,
                  segment.c_str(), "C");
    return text;
}

std::string lines(const std::vector<std::string>& columns) {
    std::string text;
    for (std::size_t n = 0; n < columns.size(); ++n)
        text += line(columns[n], static_cast<double>(n));
    return text + "END\n";
}

struct Read {
    Topology topology;
    Notes notes;
    std::vector<std::string> residues;  ///< "LYSH 4 A", with the insertion code
};

Read read(const std::string& text) {
    const auto reader = open_frames("made.pdb", text);
    Read all{*reader->topology(), reader->notes(), {}};
    for (const Topology::Residue& residue : all.topology.residues)
        all.residues.push_back(residue.name + ' ' + std::to_string(residue.number) +
                               (residue.insertion == ' ' ? "" : std::string(1, residue.insertion)) +
                               ' ' + residue.chain);
    return all;
}

using Texts = std::vector<std::string>;

TEST(Dialect, SerialNumbersOfSixDigitsBeginInColumnSixOrMoveTheOthers) {
    const std::string text = line("ALA A   1 ", 1, "", "ATOM  99999") +
                             line("ALA A   2 ", 2, "", "ATOM 100000") +
                             line("ALA A   3 ", 3, "", "ATOM  100001") +
                             line("ALA A   4 ", 4, "", "ATOM  1000002") + "END\n";
    const Read all = read(text);
    EXPECT_EQ(all.residues, (Texts{"ALA 1 A", "ALA 2 A", "ALA 3 A", "ALA 4 A"}));
    EXPECT_EQ(all.topology.positions[3][0], 4);
    const Structure structure = read_structure("made.pdb", text);
    EXPECT_EQ(structure.chains.at(0).residues.size(), 4u);
}

TEST(Dialect, AtomLinesInOtherColumnsAreRefusedAndNotPassedOver) {
    const std::string text = line("ALA A   1 ", 1) + "ATOM 2 CA ALA A 2 1.0 2.0 3.0\nEND\n";
    EXPECT_NE(refusal([&] { read(text); }).find("made.pdb:2: expected"), std::string::npos);
}

TEST(Dialect, ColumnTwentyOneIsTheFourthLetterOfAName) {
    const Read all = read(lines({"ALA A   1 ", "LYSHA   2 ", "HISBA   3 ", "POPCM   4 ",
                                 "TIP3W   5 ", "POPE    6 ", "ACETX   7 "}));
    EXPECT_EQ(all.residues, (Texts{"ALA 1 A", "LYSH 2 A", "HISB 3 A", "POPC 4 M", "TIP3 5 W",
                                   "POPE 6 ", "ACET 7 X"}));
    EXPECT_EQ(count(all.notes, NoteKind::format), 1);
    EXPECT_EQ(select_atoms(all.topology, "chain A and ca").size(), 3u);
    const Structure structure = read_structure("made.pdb", lines({"ALA A   1 ", "LYSHA   2 "}));
    EXPECT_EQ(structure.chain("A").sequence(), "AK");
}

TEST(Dialect, ColumnTwentyOneIsAChainOfTwoCharactersWhereNamesAreKnown) {
    const Read all =
        read(lines({"ALAHA   1 ", "LYSHA   2 ", " DGHA   3 ", "ATPHB   4 ", "GLYAA   5 "}));
    EXPECT_EQ(all.residues, (Texts{"ALA 1 HA", "LYS 2 HA", "DG 3 HA", "ATP 4 HB", "GLY 5 AA"}));
    EXPECT_EQ(count(all.notes, NoteKind::format), 1);
}

TEST(Dialect, DigitsOfTheEndsOfNucleicAcidsAreNoChains) {
    const Read all = read(lines({"  G5A   1 ", "  C A   2 ", "  U3A   3 "}));
    EXPECT_EQ(all.residues, (Texts{"G5 1 A", "C 2 A", "U3 3 A"}));
    EXPECT_EQ(read(lines({"GLY A   1 ", "ALAQA   2 "})).residues, (Texts{"GLY 1 A", "ALAQ 2 A"}));
    const Read pair = read(lines({"  G5A   1 ", "  C5A   2 "}));
    EXPECT_EQ(pair.residues, (Texts{"G 1 5A", "C 2 5A"}));
}

TEST(Dialect, DigitsInColumnSeventeenEndNamesUnlessOtherAtomsHaveThem) {
    const auto atom = [](const char* name, char digit, double x) {
        return pleat::test::pdb_line({.name = name, .altloc = digit, .residue = "ZZZ", .x = x});
    };
    const Read names = read(atom("BR1", '1', 0) + atom("BR1", '7', 8) + atom("C1", ' ', 4));
    ASSERT_EQ(names.topology.atoms.size(), 3u);
    EXPECT_EQ(names.topology.atoms[1].name, "BR17");
    EXPECT_EQ(count(names.notes, NoteKind::format), 1);
    const Read locations =
        read(atom("CD1", '1', 0) + atom("CD1", '2', 1) + atom("CB", '1', 4) + atom("CB", '2', 5));
    EXPECT_EQ(locations.topology.atoms.size(), 2u);
    EXPECT_EQ(count(locations.notes, NoteKind::alternatives), 1);
}

TEST(Dialect, NamesInPlaceOfElementsAreNoElements) {
    const auto atom = [](const char* name, const char* residue, const char* element, double x) {
        return pleat::test::cif_line(
            {.name = name, .residue = residue, .x = x, .element = element});
    };
    const std::string text = pleat::test::kCifHeader + atom("CA", "ALA", "CA", 0) +
                             atom("CB", "ALA", "CB", 1) + atom("C", "ALA", "C", 2) +
                             atom("CA", "CA", "CA", 9) + "#\n";
    const auto reader = open_frames("made.cif", text);
    const std::vector<Topology::Atom>& atoms = reader->topology()->atoms;
    ASSERT_EQ(atoms.size(), 4u);
    EXPECT_EQ(atoms[0].element, "C");
    EXPECT_EQ(atoms[1].element, "C");
    EXPECT_EQ(atoms[3].element, "Ca");
    EXPECT_EQ(count(reader->notes(), NoteKind::format), 1);
    const Structure structure = read_structure("made.cif", text);
    EXPECT_EQ(structure.chain("A").residues.front().atoms.front().element, "C");
}

TEST(Dialect, ResidueNumbersBehind9999AreReadInEachDialect) {
    const Read five = read(lines({"ALA A9999 ", "ALA A10000", "ALA A10001", "ALA B10000"}));
    EXPECT_EQ(five.residues, (Texts{"ALA 9999 A", "ALA 10000 A", "ALA 10001 A", "ALA 10000 B"}));
    EXPECT_EQ(count(five.notes, NoteKind::numbering), 1);
    const Read code = read(lines({"ALA A1000 ", "ALA A10000", "ALA A10001"}));
    EXPECT_EQ(code.residues, (Texts{"ALA 1000 A", "ALA 10000 A", "ALA 10001 A"})) << "as 10000";
    const Read stars = read(lines({"ALA A9999 ", "ALA A**** ", "ALA A**** ", "ALA B   1 "}));
    EXPECT_EQ(stars.residues, (Texts{"ALA 9999 A", "ALA 10000 A", "ALA 10001 A", "ALA 1 B"}));
    EXPECT_EQ(count(stars.notes, NoteKind::numbering), 1);
    const Read hex = read(lines(
        {"ALA A9999 ", "ALA A2710 ", "ALA A2711 ", "ALA B2719 ", "ALA B271a ", "ALA C2710 "}));
    EXPECT_EQ(hex.residues, (Texts{"ALA 9999 A", "ALA 10000 A", "ALA 10001 A", "ALA 10009 B",
                                   "ALA 10010 B", "ALA 2710 C"}));
    EXPECT_EQ(count(hex.notes, NoteKind::numbering), 1);
    const Read hybrid = read(lines({"ALA A9999 ", "ALA AA000 ", "ALA AA001 "}));
    EXPECT_EQ(hybrid.residues, (Texts{"ALA 9999 A", "ALA 10000 A", "ALA 10001 A"}));
    EXPECT_EQ(count(hybrid.notes, NoteKind::numbering), 0);
}

TEST(Dialect, DigitsAreInsertionCodesBesideTheirNumber) {
    const Read all = read(lines({"ALA A 999 ", "ALA A1000 ", "ALA A10001", "ALA A10002"}));
    EXPECT_EQ(all.residues, (Texts{"ALA 999 A", "ALA 1000 A", "ALA 10001 A", "ALA 10002 A"}));
    EXPECT_NE(refusal([&] {
                  read(lines({"ALA A  10 ", "ALA A100A "}));
              }).find("residue number"),
              std::string::npos);
}

TEST(Dialect, MmcifWithoutABlockIsRecognised) {
    std::string text = pleat::test::kCifHeader;
    text.erase(0, text.find("loop_"));
    text += pleat::test::cif_line({.x = 1}) + "#\n";
    const std::string commented = "# made\n" + text;
    const auto reader = open_frames("made.cif", commented);
    EXPECT_EQ(reader->format(), "mmCIF");
    EXPECT_EQ(reader->topology()->positions.at(0)[0], 1);
    EXPECT_EQ(read_structure("made.cif", text).chains.size(), 1u);
    text.replace(text.rfind(" 1"), 2, " x");
    EXPECT_EQ(refusal([&] { read_structure("made.cif", text); }).find("expected a PDB"),
              std::string::npos);
}

TEST(Dialect, ResidueNumbersOfFourDigitsMayEndInColumnTwentySeven) {
    const Read all =
        read(lines({"HOH    99 ", "HOH   999 ", "HOH   1000", "HOH   1001", "HOH   7023"}));
    EXPECT_EQ(all.residues, (Texts{"HOH 99 ", "HOH 999 ", "HOH 1000 ", "HOH 1001 ", "HOH 7023 "}));
    EXPECT_EQ(count(all.notes, NoteKind::numbering), 1);
    const Read codes = read(lines({"ALA A 100 ", "ALA A 1001", "ALA A  521", "ALA A 101 "}));
    EXPECT_EQ(codes.residues, (Texts{"ALA 100 A", "ALA 1001 A", "ALA 521 A", "ALA 101 A"}));
}

TEST(Dialect, ChargesAndLineNumbersAreNoSegments) {
    std::string text;
    for (const char* charge : {".012", ".113", ".012"})
        text += line(std::string("DXC     ") + char('1' + text.size() / 81) + " ", 1, charge);
    EXPECT_EQ(read(text + "END\n").topology.chains(), (Texts{""}));
    std::string old;
    for (const char* end : {"1AKE1839", "2AKE1840"}) {
        std::string one = line(std::string("ALA A   ") + end[0] + " ", 1);
        old += one.replace(72, std::string::npos, end) + "\n";
    }
    const Read all = read(old + "END\n");
    EXPECT_EQ(all.topology.residues.at(0).segment, "");
    EXPECT_EQ(all.topology.atoms.at(0).element, "C");
}

TEST(Dialect, TabsBehindTheBFactorAreReadOver) {
    std::string text = line("ALA A   1 ", 1);
    text.replace(66, std::string::npos, "\tB   \n");
    EXPECT_EQ(read(text + "END\n").topology.chains(), (Texts{"A"}));
    EXPECT_EQ(read_structure("made.pdb", text).chains.at(0).name, "A");
    text.replace(64, 1, "\t");
    EXPECT_NE(refusal([&] { read(text); }).find("printable ASCII"), std::string::npos);
}

TEST(Dialect, ModelsWithoutAtomsArePassedOver) {
    const std::string empty = "MODEL        1\nENDMDL\n";
    const std::string full = "MODEL        2\n" + line("ALA A   1 ", 1) + "ENDMDL\n";
    for (const std::string& text : {empty + full + "END\n", full + empty + "END\n"}) {
        const auto reader = open_frames("made.pdb", text);
        int frames = 0;
        while (reader->skip()) ++frames;
        EXPECT_EQ(frames, 1);
        EXPECT_EQ(count(reader->notes(), NoteKind::frames), 1);
    }
    EXPECT_NE(refusal([&] { read(empty); }).find("model with atoms"), std::string::npos);
}

TEST(Dialect, NamesOfForceFieldsAreKnownToAllReaders) {
    std::string text;
    int number = 0;
    const auto add = [&](const std::string& columns) {
        ++number;
        text += line(columns + std::to_string(number) + " ", number);
    };
    for (const char* columns : {"NALAA   ", "CHIDA   ", "HISBA   "}) add(columns);
    EXPECT_EQ(read_structure("made.pdb", text).chains.at(0).sequence(), "AHH");
    text.clear();
    for (const char* columns : {"DA5 B   ", " DG B   ", "GUA B   ", "RC3 B   ", "  T B   "})
        add(columns);
    EXPECT_EQ(read_structure("made.pdb", text).chains.at(0).sequence(), "AGGCT");
    EXPECT_EQ(residue_letter("GLYC"), 'X');  // glycerol
    EXPECT_EQ(guess_element_in_columns("CD1 ", "HISB"), "C");
    EXPECT_EQ(guess_element_in_columns("SE  ", "SEC"), "Se");
    EXPECT_EQ(guess_element_in_columns("AS  ", "CAS"), "As");
}

TEST(Dialect, BlankAndLetteredLocationsOfAnAtomAreOne) {
    const std::string text = line("ALA A   1 ", 1, "", "ATOM      1", ' ', 0.6) +
                             line("ALA A   1 ", 2, "", "ATOM      2", 'B', 0.4) +
                             line("ALA A   2 ", 3, "", "ATOM      3", ' ', 0.3) +
                             line("SER A   2 ", 4, "", "ATOM      4", 'B', 0.7) +
                             line("HOH A   1 ", 5) + "END\n";
    const Read all = read(text);
    EXPECT_EQ(all.residues, (Texts{"ALA 1 A", "SER 2 A", "HOH 1 A"}));
    EXPECT_EQ(all.topology.positions[0][0], 1);
    EXPECT_EQ(count(all.notes, NoteKind::alternatives), 1);
}

std::string dimer(const std::string& first, const std::string& second, double x) {
    std::string text;
    for (const std::string& segment : {first, second})
        for (int number = 1; number <= 3; ++number, x += 4)
            text += line("ALA P   " + std::to_string(number) + " ", x, segment);
    return text + "END\n";
}

TEST(Dialect, SegmentsOfOneChainAreChains) {
    const Read all = read(dimer("PROA", "PROB", 0));
    EXPECT_EQ(all.topology.chains(), (Texts{"PROA", "PROB"}));
    EXPECT_EQ(count(all.notes, NoteKind::format), 1);
    EXPECT_EQ(only_equal_chains(all.topology).names.size(), 2u);
    for (const char* text : {"segid PROB", "chain PROB", "PROB", "segname PROB", "//PROB"})
        EXPECT_EQ(select_atoms(all.topology, text), (std::vector<Index>{3, 4, 5})) << text;
    for (const char* text : {"chain P", "P", "P:1-3", "//P", "amber(::P)"})
        EXPECT_EQ(select_atoms(all.topology, text).size(), 6u) << text;
    EXPECT_EQ(read("" + dimer("PROA", "PROA", 0)).topology.chains(), (Texts{"P"}));
}

TEST(Dialect, StrandsOfOneLetterAreChainsThoughTheirNumbersDiffer) {
    const auto strands = [](const std::string& second, const std::string& columns) {
        std::string text;
        for (int n = 1; n <= 6; ++n)
            text += line((n <= 3 ? " DG D   " : columns) + std::to_string(n) + " ", 4 * n,
                         n <= 3 ? "DNAA" : second)
                        .replace(12, 4, n <= 3 || columns == " DG D   " ? " C3'" : " CA ");
        return read(text + "END\n");
    };
    const Read all = strands("DNAB", " DG D   ");
    EXPECT_EQ(all.topology.chains(), (Texts{"DNAA", "DNAB"}));
    EXPECT_EQ(count(all.notes, NoteKind::format), 1);
    EXPECT_EQ(select_atoms(all.topology, "chain DNAB"), (std::vector<Index>{3, 4, 5}));
    EXPECT_EQ(select_atoms(all.topology, "chain D").size(), 6u);
    EXPECT_EQ(strands("DNAA", " DG D   ").topology.chains(), (Texts{"D"}));
    // Water and ligands are no chains of their own.
    std::string text;
    for (int n = 1; n <= 6; ++n)
        text += line((n <= 4 ? "ALA A   " : "HOH A   ") + std::to_string(n) + " ", 4 * n,
                     n <= 4 ? "PROA" : "WATA")
                    .replace(12, 4, n <= 4 ? " CA " : " O  ");
    EXPECT_EQ(read(text + "END\n").topology.chains(), (Texts{"A"}));
}

TEST(Dialect, NumbersInTheColumnsOfSegmentsAreNone) {
    const std::string text = line("ALA A   1 ", 1, "0.12") +
                             line("ALA A   1 ", 2, "0.34").replace(13, 2, "CB") +
                             line("ALA A   1 ", 3, "0.56");
    EXPECT_EQ(read(text + "END\n").topology.chains(), (Texts{"A"}));
}

TEST(Dialect, SegmentsMatchAcrossFilesInAnotherOrder) {
    const ScratchFolder folder;
    std::string psf = "PSF\n\n       1 !NTITLE\n REMARKS made\n\n       6 !NATOM\n";
    for (int n = 0; n < 6; ++n)
        psf += "       " + std::to_string(n + 1) + (n < 3 ? " PROA " : " PROB ") +
               std::to_string(n % 3 + 1) +
               "    ALA  CA   CT1    0.000000       12.0110           0\n";
    psf += "\n       0 !NBOND: bonds\n\n\n";
    const std::string b_first = dimer("PROB", "PROA", 0), without = dimer("", "", 100);
    EnsembleOptions options;
    options.topology = folder.write("made.psf", psf);
    const Ensemble by_segment = read_ensemble({folder.write("b.pdb", b_first).string()}, options);
    EXPECT_EQ(by_segment.xyz(0, 0, 0), 12);  // residue 1 of PROA, the fourth in the file
    options.topology = folder.write("a.pdb", dimer("PROA", "PROB", 0));
    const Ensemble other = read_ensemble({(folder.path() / "b.pdb").string()}, options);
    EXPECT_EQ(other.xyz(0, 0, 0), 12);
    const Ensemble plain = read_ensemble({folder.write("n.pdb", without).string()}, options);
    EXPECT_EQ(plain.xyz(0, 0, 0), 100);
}

TEST(Dialect, AmbiguousAtomsAreNotCalledMissing) {
    const ScratchFolder folder;
    const std::string twice = line("UNK S   1 ", 1) + line("UNK S   1 ", 2);
    const auto one = folder.write("1.pdb", twice + line("UNK S   2 ", 3) + "END\n");
    const auto two = folder.write("2.pdb", line("UNK S   2 ", 3) + twice + "END\n");
    const std::string text = refusal([&] { read_ensemble({one.string(), two.string()}); });
    EXPECT_NE(text.find("found several CA of UNK 1 in chain 'S'"), std::string::npos) << text;
}

TEST(Dialect, BlocksOfTheSameAtomsAreModels) {
    const auto block = [](const std::string& name, const std::string& residue) {
        std::string text = pleat::test::kCifHeader;
        text.replace(text.find("TEST"), 4, name);
        return text + pleat::test::cif_line({.residue = residue, .x = 1}) + "#\n";
    };
    const std::string text = block("one", "ALA") + block("two", "ALA") + block("three", "GLY");
    const auto reader = open_frames("made.cif", text);
    EXPECT_EQ(count(reader->notes(), NoteKind::several), 2);
    int frames = 0;
    while (reader->skip()) ++frames;
    EXPECT_EQ(frames, 2);
}

/// Two frames of two atoms with a frame dimension of fixed length: all coordinates, then the time
/// and lengths and angles of the cell.
std::string fixed_netcdf(const std::string& unit, double cell_scale) {
    Bytes file;
    std::size_t begin = 0;
    for (int pass = 0; pass < 2; ++pass) {
        file.text = "CDF\2";
        const auto variable = [&](const char* name, std::vector<int> dimensions,
                                  const std::string& units, double scale, std::size_t bytes,
                                  std::size_t at) {
            file.word(name).integer(static_cast<int>(dimensions.size()));
            for (const int dimension : dimensions) file.integer(dimension);
            file.integer(12).integer(scale == 1 ? 1 : 2).word("units").integer(2).word(units);
            if (scale != 1) file.word("scale_factor").integer(6).integer(1).put(scale);
            file.integer(5).integer(static_cast<int>(bytes)).put(std::int64_t(begin + at));
        };
        file.integer(0).integer(10).integer(3);
        file.word("frame").integer(2).word("atom").integer(2).word("spatial").integer(3);
        file.integer(12).integer(1).word("Conventions").integer(2).word("AMBER");
        file.integer(11).integer(4);
        variable("coordinates", {0, 1, 2}, unit, 1, 48, 0);
        variable("time", {0}, "picosecond", 1, 8, 48);
        variable("cell_lengths", {0, 2}, unit, cell_scale, 24, 56);
        variable("cell_angles", {0, 2}, "degree", 1, 24, 80);
        begin = file.text.size();
    }
    for (int n = 0; n < 12; ++n) file.put(static_cast<float>(n));
    for (const float time : {5.0F, 6.0F}) file.put(time);
    for (int n = 0; n < 6; ++n) file.put(20.0F);
    for (int n = 0; n < 6; ++n) file.put(90.0F);
    return file.text;
}

TEST(Dialect, NetcdfOfFixedFramesObeysUnitsAndScaleFactors) {
    const std::string text = fixed_netcdf("nanometers", 0.5);
    const auto reader = open_frames("made.nc", text);
    Array<float, 2> frame(3, Index{2});
    ASSERT_TRUE(reader->next(frame) && reader->next(frame));
    EXPECT_FLOAT_EQ(frame(0, 0), 60);
    EXPECT_FLOAT_EQ(frame(2, 1), 110);
    EXPECT_EQ(reader->time(), 6);
    EXPECT_DOUBLE_EQ(reader->cell().vectors[0][0], 100);
    EXPECT_EQ(count(reader->notes(), NoteKind::unit), 1);
    EXPECT_FALSE(reader->next(frame));
    const std::string plain = fixed_netcdf("angstrom", 1), strange = fixed_netcdf("furlong", 1);
    EXPECT_EQ(count(open_frames("made.nc", plain)->notes(), NoteKind::unit), 0);
    EXPECT_NE(refusal([&] { open_frames("made.nc", strange); }).find("'furlong'"),
              std::string::npos);
    const std::string cut = plain.substr(0, plain.size() - 80);
    const auto short_reader = open_frames("made.nc", cut);
    EXPECT_NE(refusal([&] {
                  while (short_reader->next(frame)) {
                  }
              }).find("cut short"),
              std::string::npos);
}

TEST(Dialect, TitlesOfDcdAreCountedWhereTheirLengthIsWrong) {
    std::string text = pleat::testing::dcd_file({});
    const std::size_t titles = 92;  // behind the header and its two lengths
    ASSERT_EQ(text[titles], 84);
    text.insert(titles + 8 + 80, std::string(160, ' '));
    text[titles + 4] = 3;
    for (const std::size_t at : {titles, titles + 8 + 240}) text[at] = char(164);
    const auto reader = open_frames("made.dcd", text);
    EXPECT_EQ(reader->atom_count(), 3);
    Array<float, 2> frame(3, Index{3});
    ASSERT_TRUE(reader->next(frame) && reader->next(frame));
    EXPECT_EQ(frame(1, 2), pleat::testing::place(1, 1, 2));
}

TEST(Dialect, CoordinatesThatMayBeNanometersAreToldOf) {
    const ScratchFolder folder;
    const auto units = [&](double step) {
        std::string text = "25\n\n";
        for (int n = 0; n < 25; ++n) text += "C " + std::to_string(step * n) + " 0 0\n";
        return count(read_ensemble({folder.write("made.xyz", text).string()}).notes,
                     NoteKind::unit);
    };
    EXPECT_EQ(units(0.38), 1);
    EXPECT_EQ(units(3.8), 0);
}

TEST(IndexGroups, SelectAtomsOfAGroup) {
    const ScratchFolder folder;
    const std::string file =
        folder.write("index.ndx", "; made\n[ System ]\n 1 2 3\n 4\n\n[ Last Two ]\n4 3 4\n")
            .string();
    const Topology topology =
        read(lines({"ALA A   1 ", "ALA A   2 ", "ALA A   3 ", "ALA A   4 "})).topology;
    check_selection(file + ":Last Two");
    EXPECT_EQ(selection::index_file(file + ":Last Two"), file);
    EXPECT_EQ(selection::index_file("name .ndxs"), "");
    EXPECT_EQ(select_atoms(topology, file + ":Last Two"), (std::vector<Index>{2, 3}));
    EXPECT_EQ(select_atoms(unnamed_topology(4, "made"), file + ":System").size(), 4u);
    const auto told = [&](const std::string& text) {
        return refusal([&] { select_atoms(topology, text); });
    };
    const std::string joined = "(" + file + ":Last Two) and not (index 3 or name CB)";
    check_selection(joined);
    EXPECT_EQ(selection::index_files(joined), std::vector{file});
    EXPECT_EQ(select_atoms(topology, joined), (std::vector<Index>{2}));
    EXPECT_EQ(select_atoms(topology, "not " + file + ":Last Two or index 3"),
              (std::vector<Index>{0, 1, 3}));
    EXPECT_EQ(select_atoms(topology, "same residue as " + file + ":Last Two").size(), 2u);
    EXPECT_EQ(select_atoms(unnamed_topology(4, "made"),
                           "(" + file + ":Last Two) or (" + file + ":System)")
                  .size(),
              4u);
    EXPECT_NE(told(file + ":Other").find("found 'System', 'Last Two'"), std::string::npos);
    EXPECT_NE(told(file).find("its name behind a colon"), std::string::npos);
    const std::string beyond = folder.write("b.ndx", "[ a ]\n5\n").string();
    EXPECT_NE(told(beyond).find("b.ndx:2: expected atoms from 1 to 4, found '5'"),
              std::string::npos);
}

}  // namespace
