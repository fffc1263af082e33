// Structures: what is kept of PDB and mmCIF texts, and what is said of broken ones.
#include "pleat/bio/structure/structure.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "pleat/bio/tests/scratch_file.h"
#include "pleat/bio/tests/structure_text.h"
#include "pleat/core/error.h"

namespace {

using namespace pleat;
using namespace pleat::test;
namespace fs = std::filesystem;

Structure from_text(const std::string& text) { return read_structure("test", text); }

std::string error_of(const std::string& text) {
    try {
        from_text(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Structure, KeepsResiduesWithInsertionCodesInFileOrder) {
    const Structure structure =
        from_text(pdb_residue("ALA", 10) + pdb_residue("TRP", 10, 'A', "A", 41.8) +
                  pdb_residue("GLY", 11, ' ', "A", 45.6) + "END\n");
    ASSERT_EQ(structure.chains.size(), 1u);
    const Chain& chain = structure.chains[0];
    EXPECT_EQ(chain.sequence(), "AWG");
    EXPECT_EQ(chain.residues[0].id(), "10");
    EXPECT_EQ(chain.residues[1].id(), "10A");
    EXPECT_EQ(chain.residues[1].name, "TRP");
    EXPECT_EQ(chain.residues[2].number, 11);
    const Atom* beta = chain.residues[1].find("CB");
    ASSERT_NE(beta, nullptr);
    EXPECT_EQ(beta->element, "C");
    EXPECT_DOUBLE_EQ(beta->x, 41.8);
    EXPECT_DOUBLE_EQ(beta->y, 1.5);
    EXPECT_EQ(chain.residues[2].find("CB"), nullptr);
}

TEST(Structure, TakesTheAlternateLocationOfHighestOccupancyPerAtom) {
    std::string text;
    text += pdb_line({"ATOM", 1, "CA", 'A', "SER", "A", 1, ' ', 1, 0, 0, 0.4, "C"});
    text += pdb_line({"ATOM", 2, "CA", 'B', "SER", "A", 1, ' ', 2, 0, 0, 0.6, "C"});
    text += pdb_line({"ATOM", 3, "CB", 'A', "SER", "A", 1, ' ', 3, 0, 0, 0.5, "C"});
    text += pdb_line({"ATOM", 4, "CB", 'B', "SER", "A", 1, ' ', 4, 0, 0, 0.5, "C"});
    const Structure structure = from_text(text);
    const Residue& residue = structure.chains.at(0).residues.at(0);
    ASSERT_EQ(residue.atoms.size(), 2u);
    EXPECT_EQ(residue.find("CA")->x, 2);
    EXPECT_EQ(residue.find("CB")->x, 3);  // the first of equals
}

TEST(Structure, TakesTheIdentityOfHighestOccupancy) {
    std::string text = pdb_residue("GLY", 1);
    text += pdb_line({"ATOM", 1, "CA", 'A', "SER", "A", 2, ' ', 7.6, 0, 0, 0.3, "C"});
    text += pdb_line({"ATOM", 2, "CA", 'B', "THR", "A", 2, ' ', 7.6, 1, 0, 0.7, "C"});
    text += pdb_residue("ALA", 3);
    EXPECT_EQ(from_text(text).chains.at(0).sequence(), "GTA");
}

TEST(Structure, ModifiedResiduesHaveTheirParentsLetter) {
    const Structure structure =
        from_text(pdb_residue("MSE", 1, ' ', "A", -1, "HETATM") +
                  pdb_residue("SEP", 2, ' ', "A", -1, "HETATM") + pdb_residue("HSD", 3) +
                  pdb_residue("ZZZ", 4) + pdb_residue("ASP", 5));
    EXPECT_EQ(structure.chains.at(0).sequence(), "MSHXD");
}

TEST(Structure, LeavesOutWaterLigandsAndFreeAminoAcids) {
    std::string text = pdb_residue("ALA", 1) + pdb_residue("CYS", 2) + "TER\n";
    text += pdb_residue("GLU", 300, ' ', "A", -1, "HETATM");
    text += pdb_residue("MSE", 301, ' ', "A", -1, "HETATM");
    text += pdb_line({"HETATM", 9, "O", ' ', "HOH", "A", 400, ' ', 0, 0, 0, 1, "O"});
    text += pdb_line({"HETATM", 9, "CA", ' ', " CA", "A", 401, ' ', 0, 0, 0, 1, "CA"});
    EXPECT_EQ(from_text(text).chains.at(0).sequence(), "AC");
}

TEST(Structure, SeparatesChainsAndJoinsTheirParts) {
    const Structure structure =
        from_text(pdb_residue("ALA", 1, ' ', "A") + pdb_residue("CYS", 1, ' ', "B") +
                  pdb_residue("ASP", 2, ' ', "A") + pdb_residue("GLU", 2, ' ', "B"));
    ASSERT_EQ(structure.chains.size(), 2u);
    EXPECT_EQ(structure.chain("A").sequence(), "AD");
    EXPECT_EQ(structure.chain("B").sequence(), "CE");
    try {
        structure.chain("C");
        FAIL() << "chain C is not there";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "test: expected chain 'C', found only 'A', 'B'");
    }
}

TEST(Structure, ReadsTheFirstModelOnly) {
    const std::string first = pdb_residue("ALA", 1) + pdb_residue("CYS", 2);
    const std::string second = pdb_residue("TRP", 1) + pdb_residue("TRP", 2);
    EXPECT_EQ(
        from_text("MODEL        1\n" + first + "ENDMDL\nMODEL        2\n" + second + "ENDMDL\n")
            .chains.at(0)
            .sequence(),
        "AC");
    EXPECT_EQ(from_text(first + "END\n" + second + "END\n").chains.at(0).sequence(), "AC");
    std::string cif = kCifHeader;
    cif += cif_line({"ATOM", 1, "CA", ' ', "ALA", "A", 1});
    cif += cif_line({"ATOM", 2, "CA", ' ', "TRP", "A", 1}, 2);
    EXPECT_EQ(from_text(cif).chains.at(0).sequence(), "A");
}

TEST(Structure, ReadsOldFilesWithSerialsInTheLastColumns) {
    std::string text =
        "HEADER    OXYGEN TRANSPORT                        07-MAR-84   2HHB      2HHB   3\n";
    for (int i = 1; i <= 3; ++i) {
        std::string line =
            pdb_line({"ATOM", i, "CA", ' ', "VAL", "A", i, ' ', 3.8 * i, 0, 0, 1, ""});
        line.resize(72, ' ');
        text += line.substr(0, 66) + "      2HHB 1" + std::to_string(20 + i) + "\n";
    }
    const Structure structure = from_text(text);
    EXPECT_EQ(structure.chains.at(0).sequence(), "VVV");
    EXPECT_EQ(structure.chains[0].residues[0].atoms[0].element, "C");
}

TEST(Structure, ToldApartFromCarriageReturnsAndMissingElements) {
    std::string text;
    for (char c : pdb_residue("ALA", 1) + pdb_residue("LEU", 2)) {
        if (c == '\n') text += '\r';
        text += c;
    }
    EXPECT_EQ(from_text(text).chains.at(0).sequence(), "AL");
}

TEST(Structure, NucleicAcidsAreOfTheirKind) {
    std::string text;
    const char* names[] = {"DA", "U", "PSU", "5MC"};
    for (int i = 0; i < 4; ++i) {
        text += pdb_line({"ATOM", 1, "P", ' ', names[i], "B", i, ' ', 6.0 * i, 0, 0, 1, "P"});
        text += pdb_line({"ATOM", 1, "C1'", ' ', names[i], "B", i, ' ', 6.0 * i, 4, 0, 1, "C"});
    }
    const Chain chain = from_text(text).chains.at(0);
    EXPECT_EQ(chain.kind, Chain::Kind::nucleic);
    EXPECT_EQ(chain.sequence(), "AUUC");
}

TEST(Structure, ReadsTheTriphosphateAtTheStartOfAnRna) {
    const auto nucleotide = [](const char* record, const char* name, int number) {
        const bool has_three = name[0] == 'G' && name[1] == 'T';
        return pdb_line({record, 1, has_three ? "PA" : "P", ' ', name, "B", number, ' ',
                         6.0 * number, 0, 0, 1, "P"}) +
               pdb_line(
                   {record, 1, "C1'", ' ', name, "B", number, ' ', 6.0 * number, 4, 0, 1, "C"});
    };
    std::string text = nucleotide("ATOM", "GTP", 1) + nucleotide("ATOM", "C", 2);
    text += nucleotide("ATOM", "A", 3) + "TER\n" + nucleotide("HETATM", "GTP", 90);
    EXPECT_EQ(from_text(text).chains.at(0).sequence(), "GCA");
}

TEST(Structure, KnowsWhereAChainIsBroken) {
    const Chain chain = from_text(pdb_residue("ALA", 1) + pdb_residue("CYS", 2) +
                                  pdb_residue("ASP", 7) + pdb_residue("GLU", 8))
                            .chains.at(0);
    EXPECT_FALSE(chain.broken_after(0));
    EXPECT_TRUE(chain.broken_after(1));
    EXPECT_FALSE(chain.broken_after(2));
    EXPECT_FALSE(chain.broken_after(3));
}

TEST(Structure, MmcifUsesTheAuthorsNames) {
    std::string cif = kCifHeader;
    std::string line = cif_line({"ATOM", 1, "CA", ' ', "GLY", "A", 5, 'B', 1, 2, 3});
    line.replace(line.rfind(" A 1"), 4, " XY 1");
    const Structure structure = from_text(cif + line);
    EXPECT_EQ(structure.chains.at(0).name, "XY");
    EXPECT_EQ(structure.chains[0].residues.at(0).id(), "5B");
    EXPECT_EQ(structure.chains[0].residues[0].atoms.at(0).z, 3);
}

TEST(Structure, BothFormatsOfARealEntryAgree) {
    const Structure pdb = read_structure(fs::path(PLEAT_DATA) / "1a8o.pdb.gz");
    const Structure cif = read_structure(fs::path(PLEAT_DATA) / "1a8o.cif.gz");
    ASSERT_EQ(pdb.chains.size(), 1u);
    ASSERT_EQ(cif.chains.size(), 1u);
    EXPECT_EQ(pdb.chains[0].sequence(),
              "MDIRQGPKEPFRDYVDRFYKTLRAEQASQEVKNWMTETLLVQNANPDCKTILKALGPGATLEEMMTACQG");
    ASSERT_EQ(pdb.chains[0].sequence(), cif.chains[0].sequence());
    for (std::size_t i = 0; i < pdb.chains[0].residues.size(); ++i) {
        const Residue& a = pdb.chains[0].residues[i];
        const Residue& b = cif.chains[0].residues[i];
        EXPECT_EQ(a.id(), b.id());
        ASSERT_EQ(a.atoms.size(), b.atoms.size());
        for (std::size_t k = 0; k < a.atoms.size(); ++k) {
            EXPECT_EQ(a.atoms[k].name, b.atoms[k].name);
            EXPECT_NEAR(a.atoms[k].x, b.atoms[k].x, 1e-9);
        }
    }
}

TEST(Structure, BrokenFilesAreNamedWithTheirLine) {
    EXPECT_EQ(error_of(""), "test: expected a PDB or mmCIF file, found no text");
    EXPECT_EQ(
        error_of(">seq\nACDEF\n"),
        "test: expected a PDB file (ATOM records) or an mmCIF file (data_ block), found neither");
    const std::string good = pdb_residue("ALA", 1);
    std::string cut = good;
    cut.resize(cut.size() - 40);
    EXPECT_EQ(error_of(cut), "test:4: expected an atom record of at least 54 characters, found 38");
    std::string bad = good;
    bad.replace(38, 8, "   abc  ");
    EXPECT_EQ(error_of(bad), "test:1: expected a coordinate in columns 39-46, found '   abc  '");
    bad = good;
    bad.replace(30, 8, "     nan");
    EXPECT_EQ(error_of(bad), "test:1: expected a coordinate in columns 31-38, found '     nan'");
    bad = good;
    bad.replace(22, 4, " x1 ");
    EXPECT_EQ(error_of(bad), "test:1: expected a residue number in columns 23-26, found ' x1 '");
    EXPECT_EQ(error_of(pdb_line({"HETATM", 9, "O", ' ', "HOH", "A", 400, ' ', 0, 0, 0, 1, "O"})),
              "test: expected a protein or nucleic acid chain, found only other molecules");
}

TEST(Structure, BrokenMmcifIsNamedWithItsLine) {
    EXPECT_EQ(error_of("data_X\n_entry.id X\n"),
              "test: expected mmCIF with _atom_site coordinates, found none");
    const std::string cut = error_of(std::string(kCifHeader) + "ATOM 1 C\n");
    EXPECT_EQ(cut.rfind("test:", 0), 0u) << cut;
    EXPECT_NE(cut.find("expected mmCIF, found"), std::string::npos) << cut;
    const std::string open = error_of("\n\ndata_X\nloop_\n_a.b\n'x\n");
    EXPECT_EQ(open.rfind("test:6:", 0), 0u) << open;
    std::string missing = cif_line({"ATOM", 1, "CA", ' ', "GLY", "A", 5, ' ', 1, 2, 3});
    missing.replace(missing.find("2.000"), 5, "?");
    EXPECT_EQ(error_of(kCifHeader + missing),
              "test: expected three coordinates for every atom, found none for atom CA of residue "
              "GLY 5 in chain 'A'");
}

TEST(Structure, TruncatedCompressionIsRefused) {
    std::ifstream file(fs::path(PLEAT_DATA) / "1a8o.pdb.gz", std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
    ASSERT_GT(bytes.size(), 1000u);
    EXPECT_EQ(from_text(bytes).chains.at(0).residues.size(), 70u);
    for (const std::size_t size : {bytes.size() - 1, bytes.size() / 2, std::size_t{200}}) {
        EXPECT_NE(error_of(bytes.substr(0, size)), "no error") << size;
    }
}

TEST(Structure, EveryCutOfATextIsReadOrRefused) {
    const std::string pdb = pdb_residue("ALA", 1) + "TER\n" + pdb_residue("CYS", 1, ' ', "B");
    std::string cif = kCifHeader;
    cif += cif_line({"ATOM", 1, "CA", ' ', "ALA", "A", 1});
    cif += cif_line({"ATOM", 2, "CA", 'B', "GLY", "A", 2});
    for (const std::string& text : {pdb, cif}) {
        int read = 0;
        for (std::size_t size = 0; size <= text.size(); ++size) {
            read += error_of(text.substr(0, size)) == "no error";
        }
        EXPECT_GT(read, 0);
        EXPECT_EQ(error_of(text), "no error");
    }
}

TEST(StructureChoice, SplitsTheChainFromTheFile) {
    EXPECT_EQ(parse_structure_choice("a.pdb").file, "a.pdb");
    EXPECT_EQ(parse_structure_choice("a.pdb").chain, "");
    EXPECT_EQ(parse_structure_choice("dir/a.pdb:B").file, "dir/a.pdb");
    EXPECT_EQ(parse_structure_choice("dir/a.pdb:B").chain, "B");
    EXPECT_EQ(parse_structure_choice("run:1/a.pdb").file, "run:1/a.pdb");
    EXPECT_EQ(parse_structure_choice("run:1/a.pdb:AA").chain, "AA");
    EXPECT_THROW(parse_structure_choice(""), UsageError);
    EXPECT_THROW(parse_structure_choice(":A"), UsageError);
    EXPECT_THROW(parse_structure_choice("a.pdb:"), UsageError);
}

TEST(StructureChoice, AFileThatExistsIsTakenWhole) {
    const pleat::testing::ScratchFolder folder;
    const fs::path file = folder.write("structure:X", pdb_residue("ALA", 1));
    const StructureChoice whole = parse_structure_choice(file.string());
    EXPECT_EQ(whole.file, file);
    EXPECT_EQ(whole.chain, "");
    EXPECT_EQ(parse_structure_choice(file.string() + ":A").file, file);
    EXPECT_EQ(read_structure(file).chains.size(), 1u);
}

}  // namespace
