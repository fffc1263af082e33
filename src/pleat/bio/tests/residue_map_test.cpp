// Residue maps: known maps of made families, random deletions and mutations, and refusals.
#include "pleat/bio/structure/known_structure.h"

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <random>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/core/error.h"

namespace {

using namespace pleat;
namespace fs = std::filesystem;

const std::string kProtein = "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQ";

Alignment alignment_of(const std::vector<std::string>& rows,
                       const Alphabet& alphabet = Alphabet::protein()) {
    Alignment alignment;
    alignment.alphabet = &alphabet;
    alignment.source = "family.aln";
    const auto columns = static_cast<Index>(rows.front().size());
    alignment.letters = Array<std::uint8_t, 2>(static_cast<Index>(rows.size()), columns);
    for (std::size_t n = 0; n < rows.size(); ++n) {
        alignment.names.push_back("row" + std::to_string(n) + "/1-99");
        for (Index i = 0; i < columns; ++i) {
            alignment.letters(static_cast<Index>(n), i) =
                alphabet.code(rows[n][static_cast<std::size_t>(i)]);
        }
    }
    for (Index i = 0; i < columns; ++i) alignment.columns.push_back(i);
    return alignment;
}

/// A chain of CA atoms 3.8 angstrom apart; a residue whose number does not follow stands apart.
Chain chain_of(const std::string& letters, const std::vector<int>& numbers = {},
               const std::string& name = "A", Chain::Kind kind = Chain::Kind::protein) {
    Chain chain;
    chain.name = name;
    chain.kind = kind;
    for (std::size_t i = 0; i < letters.size(); ++i) {
        Residue residue;
        residue.letter = letters[i];
        residue.number = numbers.empty() ? static_cast<int>(i) + 1 : numbers[i];
        residue.atoms.push_back({"CA", "C", 3.8 * residue.number, 0, 0});
        chain.residues.push_back(residue);
    }
    return chain;
}

Structure structure_of(std::vector<Chain> chains) { return {"test.pdb", std::move(chains)}; }

TEST(ResidueMap, DoubtsAFamilyOfLowIdentity) {
    EXPECT_EQ(doubt_about_family("a.pdb", "B", 0.499, "row 'x'"),
              "a.pdb: chain B has an identity of only 0.50 to row 'x'; is it a structure of this "
              "family?");
    EXPECT_EQ(doubt_about_family("a.pdb", "B", 0.5, "row 'x'"), "");
}

TEST(ResidueMap, FollowsGapsOfTheRow) {
    const Alignment alignment = alignment_of({"-MKTAYIAK--QRQISFVKSH-", "AAAAAAAAAAAAAAAAAAAAAA"});
    const ResidueMap map =
        map_residues(alignment, structure_of({chain_of("GSMKTAYIAKQRQISFVKSHGG")}));
    const std::vector<Index> expected{-1, 2,  3,  4,  5,  6,  7,  8,  9,  -1, -1,
                                      10, 11, 12, 13, 14, 15, 16, 17, 18, 19, -1};
    EXPECT_EQ(map.residues, expected);
    EXPECT_EQ(map.mapped, 18);
    EXPECT_EQ(map.row, 0);
    EXPECT_EQ(map.row_name, "row0/1-99");
    EXPECT_EQ(map.chain_name, "A");
    EXPECT_DOUBLE_EQ(map.identity, 1.0);
}

// Without their insertions, the gap would be opened one residue further.
TEST(ResidueMap, AlignsTheRowWithItsInsertions) {
    const std::string row = "MKTAYIAGSsKLVEEDFGHRWLNQPTtVKCADE";
    std::string chain = row;
    for (char& c : chain) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const Alignment alignment =
        read_alignment_from_memory("map.a2m", ">Q/1-33\n" + row + "\n>s0\n" + row + "\n",
                                   {.format = "a2m", .alphabet = {}, .keep_full_rows = true});
    const ResidueMap map = map_residues(alignment, structure_of({chain_of(chain)}));
    ASSERT_EQ(map.residues.size(), 31u);
    EXPECT_EQ(map.residues[8], 8);    // column 9: residue 9
    EXPECT_EQ(map.residues[9], 10);   // behind the insertion
    EXPECT_EQ(map.residues[24], 25);  // column 25: residue 26
    EXPECT_EQ(map.residues[25], 27);
    EXPECT_EQ(map.identity, 1.0);
}

TEST(ResidueMap, CountsIdentityOverKnownLetters) {
    // One mutation (I to W), one residue of unknown kind, one letter of the row unknown.
    const Alignment alignment = alignment_of({"MKTAYIAKXRQISFVKSHFS", "--------------------"});
    const ResidueMap map =
        map_residues(alignment, structure_of({chain_of("MKTAYWAKQRXISFVKSHFS")}));
    EXPECT_EQ(map.mapped, 19);
    EXPECT_EQ(map.residues[8], -1);
    EXPECT_EQ(map.residues[10], 10);
    EXPECT_DOUBLE_EQ(map.identity, 17.0 / 18.0);
}

TEST(ResidueMap, MissingResiduesLeaveTheirColumnsEmpty) {
    std::mt19937 random(3);
    for (int trial = 0; trial < 100; ++trial) {
        std::string letters;
        std::vector<int> numbers;
        std::vector<Index> expected(kProtein.size(), -1);
        const std::size_t begin = 5 + random() % 40;
        const std::size_t end = begin + 1 + random() % 10;
        for (std::size_t i = 0; i < kProtein.size(); ++i) {
            if (i >= begin && i < end) continue;
            expected[i] = static_cast<Index>(letters.size());
            letters += kProtein[i];
            numbers.push_back(static_cast<int>(i) + 1);
        }
        const Alignment alignment = alignment_of({kProtein, std::string(kProtein.size(), 'A')});
        const ResidueMap map = map_residues(alignment, structure_of({chain_of(letters, numbers)}));
        EXPECT_EQ(map.residues, expected) << "missing " << begin << " to " << end;
    }
}

TEST(ResidueMap, SurvivesRandomMutationsAndRowGaps) {
    std::mt19937 random(4);
    const std::string kLetters = "ARNDCQEGHILKMFPSTWYV";
    for (int trial = 0; trial < 100; ++trial) {
        // The chain differs from the row by mutations; the row lies in columns among random gaps.
        std::string row;
        std::string chain = "GS";
        std::vector<Index> expected;
        for (char c : kProtein) {
            while (random() % 5 == 0) {
                row += '-';
                expected.push_back(-1);
            }
            row += c;
            expected.push_back(static_cast<Index>(chain.size()));
            chain += random() % 10 == 0 ? kLetters[random() % 20] : c;
        }
        const ResidueMap map =
            map_residues(alignment_of({row, row}), structure_of({chain_of(chain)}));
        std::size_t same = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) same += map.residues[i] == expected[i];
        // A mutation at the very end may fall off the free end; all else must hold.
        EXPECT_GE(same, expected.size() - 1) << row << "\n" << chain;
        EXPECT_GT(map.identity, 0.7);
    }
}

TEST(ResidueMap, FindsTheRowAmongManyAndTakesTheFirstOfEquals) {
    std::mt19937 random(5);
    const std::string kLetters = "ARNDCQEGHILKMFPSTWYV";
    std::vector<std::string> rows(30000);
    for (std::string& row : rows) {
        row = kProtein;
        for (char& c : row) {
            if (random() % 100 < 60) c = kLetters[random() % 20];
        }
    }
    rows[20123] = kProtein;
    rows[20123][7] = 'W';
    rows[25000] = rows[20123];
    const ResidueMap map = map_residues(alignment_of(rows), structure_of({chain_of(kProtein)}));
    EXPECT_EQ(map.row, 20123);
    EXPECT_NEAR(map.identity, 1.0 - 1.0 / static_cast<double>(kProtein.size()), 1e-12);
}

TEST(ResidueMap, ChoosesTheChainThatFits) {
    const Alignment alignment = alignment_of({kProtein, kProtein});
    const Structure structure = structure_of(
        {chain_of("GGGGPPPPGGGGPPPP", {}, "L"), chain_of(kProtein, {}, "H"),
         chain_of(kProtein, {}, "I"), chain_of("ACGU", {}, "R", Chain::Kind::nucleic)});
    EXPECT_EQ(map_residues(alignment, structure).chain, 1);
    EXPECT_EQ(map_residues(alignment, structure, {"", "I"}).chain, 2);
    EXPECT_EQ(map_residues(alignment, structure, {"", "I"}).chain_name, "I");
    EXPECT_THROW(map_residues(alignment, structure, {"", "R"}), InputError);
    EXPECT_THROW(map_residues(alignment, structure, {"", "Z"}), InputError);
}

TEST(ResidueMap, TakesTheNamedRow) {
    std::string other = kProtein;
    other[3] = 'W';
    const Alignment alignment = alignment_of({kProtein, other});
    const Structure structure = structure_of({chain_of(kProtein)});
    EXPECT_EQ(map_residues(alignment, structure, {"row1/1-99"}).row, 1);
    EXPECT_EQ(map_residues(alignment, structure, {"row1"}).row, 1);
    EXPECT_EQ(map_residues(alignment, structure).row, 0);
    EXPECT_THROW(map_residues(alignment, structure, {"row2"}), UsageError);
    Alignment twice = alignment;
    twice.names[0] = "row1/200-300";
    EXPECT_THROW(map_residues(twice, structure, {"row1"}), UsageError);
    EXPECT_EQ(map_residues(twice, structure, {"row1/1-99"}).row, 1);
}

TEST(ResidueMap, RefusesANameThatDifferentRowsBear) {
    std::string other = kProtein;
    other[3] = 'W';
    Alignment alignment = alignment_of({other, kProtein, kProtein, other});
    const Structure structure = structure_of({chain_of(kProtein)});
    alignment.names = {"first", "same", "same", "same"};
    try {
        map_residues(alignment, structure, {"same"});
        ADD_FAILURE() << "expected a UsageError";
    } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("'same' on the rows 2 and 4"), std::string::npos)
            << error.what();
    }
    alignment.names[3] = "last";
    EXPECT_EQ(find_row(alignment, "same"), 1);  // the same letters: either will do
}

TEST(ResidueMap, RefusesAnUnrelatedStructure) {
    const Alignment alignment = alignment_of({kProtein, kProtein});
    std::mt19937 random(6);
    const std::string kLetters = "ARNDCQEGHILKMFPSTWYV";
    for (int trial = 0; trial < 20; ++trial) {
        std::string unrelated;
        for (int k = 0; k < 120; ++k) unrelated += kLetters[random() % 20];
        EXPECT_THROW(map_residues(alignment, structure_of({chain_of(unrelated)})), InputError)
            << unrelated;
    }
    ResidueMapOptions lenient;
    lenient.min_identity = 0.9;
    std::string mutated = kProtein;
    for (std::size_t i = 0; i < mutated.size(); i += 5) mutated[i] = 'G';
    EXPECT_NO_THROW(map_residues(alignment, structure_of({chain_of(mutated)})));
    EXPECT_THROW(map_residues(alignment, structure_of({chain_of(mutated)}), lenient), InputError);
}

TEST(ResidueMap, MapsNucleicAcidsAndReadsTAsU) {
    const std::string rna = "GCGGAUUUAGCUCAGUUGGGAGAGCGCCAGACUGAAGAUCUGGAGGUCCUGUG";
    std::string dna = rna;
    for (char& c : dna) c = c == 'U' ? 'T' : c;
    const Alignment alignment = alignment_of({rna, std::string(rna.size(), 'A')}, Alphabet::rna());
    const Structure structure = structure_of({chain_of(dna, {}, "B", Chain::Kind::nucleic)});
    const ResidueMap map = map_residues(alignment, structure);
    EXPECT_DOUBLE_EQ(map.identity, 1.0);
    EXPECT_EQ(map.mapped, static_cast<Index>(rna.size()));
    EXPECT_THROW(map_residues(alignment_of({kProtein, kProtein}), structure), InputError);
}

TEST(ResidueMap, AnEmptyRowMapsNothing) {
    const Alignment alignment = alignment_of({"-----", "-----"});
    EXPECT_THROW(map_residues(alignment, structure_of({chain_of(kProtein)})), InputError);
}

TEST(ResidueMap, MapsARealChainWithInsertionCodes) {
    const Alignment alignment = read_alignment(fs::path(PLEAT_DATA) / "trypsin.a2m.gz");
    const Structure structure = read_structure(fs::path(PLEAT_DATA) / "1ql9_A.pdb.gz");
    const ResidueMap map = map_residues(alignment, structure);
    EXPECT_EQ(map.row_name, "1QL9_A.pdb");
    EXPECT_DOUBLE_EQ(map.identity, 1.0);
    const Chain& chain = structure.chains.at(static_cast<std::size_t>(map.chain));
    // Every residue stands in one column, in order, under its own letter.
    Index next = 0;
    for (std::size_t column = 0; column < map.residues.size(); ++column) {
        const Index residue = map.residues[column];
        const std::uint8_t code = alignment.letters(map.row, static_cast<Index>(column));
        EXPECT_EQ(residue < 0, code == alignment.alphabet->gap()) << column;
        if (residue < 0) continue;
        EXPECT_EQ(residue, next++);
        EXPECT_EQ(alignment.alphabet->letter(code),
                  chain.residues[static_cast<std::size_t>(residue)].letter);
    }
    EXPECT_EQ(next, static_cast<Index>(chain.residues.size()));
    EXPECT_EQ(next, 223);
}

}  // namespace
