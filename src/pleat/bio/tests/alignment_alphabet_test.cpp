// Tests of alphabets: codes, letters that read as gaps, and how an alphabet is told.
#include <string>

#include <gtest/gtest.h>

#include <algorithm>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/error.h"

namespace pleat {
namespace {

TEST(Alphabet, ProteinCodesFollowTheOrderOfTheLiterature) {
    const std::string order = "ARNDCQEGHILKMFPSTWYV-";
    const Alphabet& protein = Alphabet::protein();
    ASSERT_EQ(protein.letters(), order);
    ASSERT_EQ(protein.size(), 21);
    EXPECT_EQ(protein.gap(), 20);
    for (std::size_t i = 0; i < order.size(); ++i) {
        EXPECT_EQ(protein.code(order[i]), i);
        EXPECT_EQ(protein.letter(static_cast<std::uint8_t>(i)), order[i]);
    }
}

TEST(Alphabet, EveryCharacterIsAResidueAGapOrInvalid) {
    struct Case {
        const Alphabet& alphabet;
        std::string residues, gaps;
    };
    for (const Case& c : {Case{Alphabet::protein(), "ARNDCQEGHILKMFPSTWYV", "BJOUXZ*-._~?"},
                          Case{Alphabet::rna(), "ACGUT", "RYSWKMBDHVNX-._~?"},
                          Case{Alphabet::dna(), "ACGTU", "RYSWKMBDHVNX-._~?"}}) {
        for (int byte = 0; byte < 256; ++byte) {
            const char character = static_cast<char>(byte);
            const bool lower = byte >= 'a' && byte <= 'z';
            const char upper = lower ? static_cast<char>(byte - 'a' + 'A') : character;
            const std::uint8_t code = c.alphabet.code(character);
            if (c.residues.find(upper) != std::string::npos) {
                EXPECT_LT(code, c.alphabet.gap()) << c.alphabet.name() << " " << byte;
                EXPECT_EQ(code, c.alphabet.code(upper));
            } else if (c.gaps.find(upper) != std::string::npos) {
                EXPECT_EQ(code, c.alphabet.gap()) << c.alphabet.name() << " " << byte;
            } else {
                EXPECT_EQ(code, Alphabet::invalid) << c.alphabet.name() << " " << byte;
            }
        }
    }
    EXPECT_EQ(Alphabet::rna().code('T'), Alphabet::rna().code('U'));
    EXPECT_EQ(Alphabet::dna().code('u'), Alphabet::dna().code('T'));
    EXPECT_EQ(Alphabet::rna().letters(), "ACGU-");
    EXPECT_EQ(Alphabet::dna().letters(), "ACGT-");
}

TEST(Alphabet, IsFoundByNameOnly) {
    EXPECT_EQ(&Alphabet::named("protein"), &Alphabet::protein());
    EXPECT_EQ(&Alphabet::named("rna"), &Alphabet::rna());
    EXPECT_EQ(&Alphabet::named("dna"), &Alphabet::dna());
    EXPECT_THROW(Alphabet::named("RNA"), UsageError);
    EXPECT_THROW(Alphabet::named(""), UsageError);
}

std::string_view told(const std::string& rows, const std::string& named = {}) {
    ReadOptions options;
    options.alphabet = named;
    return read_alignment_from_memory("x.aln", rows, options).alphabet->name();
}

TEST(AlphabetToldByLetters, ByShareOfNucleotidesAndByUAgainstT) {
    EXPECT_EQ(told("ACDEF\nACDEW\n"), "protein");
    EXPECT_EQ(told("ACGU\nAC-U\n"), "rna");
    EXPECT_EQ(told("acgu\nac.u\n"), "rna");
    EXPECT_EQ(told("ACGT\nACNT\n"), "dna");
    EXPECT_EQ(told("ACGA\nACCA\n"), "dna");
    EXPECT_EQ(told("UUUT\nACGC\n"), "rna");
    EXPECT_EQ(told("TTTU\nACGC\n"), "dna");
    EXPECT_EQ(told("UT\nAC\n"), "rna");
    // 19 of 20 letters make 95 %; 80 % are enough if U is frequent or all others are ambiguity
    // codes.
    EXPECT_EQ(told("ACGUACGUAR\nACGUACGUAC\n"), "rna");
    EXPECT_EQ(told("ACGUACGUAR\nACGUACGUA-\n"), "rna");
    EXPECT_EQ(told("ACGTACGTAL\nACGTACGTA-\n"), "protein");
    EXPECT_EQ(told("ACGAR\nACGAR\n"), "dna");
    EXPECT_EQ(told("ACGAR\nACGR-\n"), "protein");
}

TEST(AlphabetToldByLetters, IsOverruledByName) {
    EXPECT_EQ(told("ACGA\nACCA\n", "protein"), "protein");
    EXPECT_EQ(told("ACGT\nACCT\n", "rna"), "rna");
    EXPECT_THROW(told("ACGT\nACCT\n", "amino"), UsageError);
}

TEST(AlphabetToldByLetters, AmbiguityLettersBecomeGaps) {
    const Alignment alignment = read_alignment_from_memory("x.aln", "BJOUXZ*ACDEF\nWWWWWWWWWWWW\n");
    for (Index j = 0; j < 7; ++j) EXPECT_EQ(alignment.letters(0, j), alignment.alphabet->gap());
    EXPECT_EQ(alignment.letters(0, 7), alignment.alphabet->code('A'));
}

TEST(Alphabet, TellsUnknownLettersFromGapsWhereAsked) {
    const std::string rows = "XAC-\nBA-.\n";
    const Alignment kept = read_alignment_from_memory(
        "x.aln", rows, {.format = "", .alphabet = "protein", .keep_unknown = true});
    EXPECT_EQ(kept.alphabet->letters(), "ARNDCQEGHILKMFPSTWYVX-");
    EXPECT_EQ(kept.letters(0, 0), kept.letters(1, 0));
    EXPECT_EQ(kept.alphabet->letter(kept.letters(0, 0)), 'X');
    EXPECT_EQ(kept.letters(0, 3), kept.alphabet->gap());
    const Alignment plain =
        read_alignment_from_memory("x.aln", rows, {.format = "", .alphabet = "protein"});
    const Alignment undone = without_unknown(kept);
    EXPECT_EQ(undone.alphabet, plain.alphabet);
    EXPECT_TRUE(std::equal(undone.letters.begin(), undone.letters.end(), plain.letters.begin()));
    EXPECT_EQ(Alphabet::rna().with_unknown().letters(), "ACGUN-");
    EXPECT_EQ(&Alphabet::rna().with_unknown().without_unknown(), &Alphabet::rna());
}

TEST(ReferenceRow, CountsInsertedAndUnknownResidues) {
    const Alignment a3m = read_alignment_from_memory(
        "x.a3m", ">a\nggACxX-DEF\n>b\nACD-DEF\n",
        {.format = "a3m", .alphabet = "protein", .keep_full_rows = true});
    EXPECT_EQ(a3m.full_rows, (std::vector<std::string>{"ggACxX-DEF", ""}));
    const ReferenceRow first = make_reference_row(a3m, 0);
    EXPECT_EQ(first.letters, "AC--DEF");
    EXPECT_EQ(first.sequence, "GGACXXDEF");
    EXPECT_EQ(first.numbers, (std::vector<Index>{3, 4, 6, 0, 7, 8, 9}));
    const ReferenceRow second = make_reference_row(a3m, 1);
    EXPECT_EQ(second.sequence, "ACDDEF");
    EXPECT_EQ(second.numbers, (std::vector<Index>{1, 2, 3, 0, 4, 5, 6}));
}

}  // namespace
}  // namespace pleat
