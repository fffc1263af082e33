// Tests of dialects of alignments: what the reader decides, and the notes that say so.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/error.h"
#include "written_alignment.h"

namespace pleat {
namespace {

using Rows = std::vector<std::string>;
using testing::rows_of;

Alignment read(const std::string& text, ReadOptions options = {}) {
    return read_alignment_from_memory("x", text, options);
}

Alignment read(const std::string& text, Insertions insertions) {
    ReadOptions options;
    options.insertions = insertions;
    return read(text, options);
}

const Note& only_note(const Alignment& alignment) {
    EXPECT_EQ(alignment.notes.size(), 1u);
    return alignment.notes.at(0);
}

const std::string kInserts =
    "q1       MKVLA..AGIVKRE\ns1       MKILSgsAGLVRRE\ns2       MRVLAn.AGIVKKE\n"
    "s3       MKVLA.dSGIVRKD\n";
const Rows kMatched = {"MKVLAAGIVKRE", "MKILSAGLVRRE", "MRVLAAGIVKKE", "MKVLASGIVRKD"};

TEST(AlignmentInsertions, AreDroppedByTheReferenceLineOrByTheLetters) {
    const std::string sto = "# STOCKHOLM 1.0\n" + kInserts;
    for (const std::string& text :
         {sto + "#=GC RF  xxxxx..xxxxxxx\n//\n", sto + "//\n", "CLUSTAL W\n\n" + kInserts}) {
        const Alignment found = read(text);
        EXPECT_EQ(rows_of(found), kMatched) << text;
        EXPECT_EQ(only_note(found).kind, NoteKind::insertions);
        EXPECT_EQ(only_note(found).option, "--insertions keep");
        const Alignment all = read(text, Insertions::keep);
        EXPECT_EQ(rows_of(all)[1], "MKILSGSAGLVRRE");
        EXPECT_TRUE(all.notes.empty());
    }
    // The line decides, not the letters.
    const Alignment upper =
        read("# STOCKHOLM 1.0\na ACDEf\nb ACDEF\n#=GC RF x.x.X\n//\n", {.keep_full_rows = true});
    EXPECT_EQ(rows_of(upper), (Rows{"ADF", "ADF"}));
    EXPECT_EQ(upper.full_rows, (Rows{"AcDeF", "AcDeF"}));
}

TEST(AlignmentInsertions, ColumnsOfLowerCaseInFastaAreANote) {
    const std::string text = ">e1\nGATCGACCCTgtaagtttt\n>e2\nGCGCTCAGTTgtaagtatc\n";
    const Alignment found = read(text);
    EXPECT_EQ(found.column_count(), 10);
    EXPECT_EQ(only_note(found).kind, NoteKind::insertions);
    EXPECT_NE(only_note(found).text.find("9 of 19"), std::string::npos);
    EXPECT_EQ(read(text, Insertions::keep).column_count(), 19);
    EXPECT_EQ(read(text, {.format = "fasta"}).column_count(), 19);
    EXPECT_TRUE(read(text, {.format = "a2m"}).notes.empty());
    // Letters that leave the format open are no fault if the user decides.
    const std::string mixed = ">a\nACdEF\n>b\nAcDEF\n";
    EXPECT_EQ(read(mixed, Insertions::keep).column_count(), 5);
    EXPECT_EQ(read(mixed, Insertions::drop).column_count(), 4);
    EXPECT_THROW(read(">a\nACDEF\n>b\nACkDEF\n", Insertions::keep), InputError);
}

TEST(AlignmentInsertions, APartOfAReferenceLineIsNotUsed) {
    const Alignment found = read("# STOCKHOLM 1.0\na ACDEF\nb ACDEF\n#=GC RF xx.\n//\n");
    EXPECT_EQ(found.column_count(), 5);
    EXPECT_TRUE(only_note(found).is_warning);
}

TEST(AlignmentAlphabet, ModifiedBasesOfRnaAreNoProtein) {
    const std::string text =
        ">t1\nGCGGAUUUAGCUCAGDDGGGAGAGCGCCAGACUGAAYAUCUGGAGGUCCUGUGTPCGAUCCACAGAAUUCGCACCA\n"
        ">t3\nGCCGAUUUAGCUCAGDDGGGAGAGCGCCAGACUGAAIAUCUGGAGGUCCUGUGTPCGAUCCACAGAAUUCGGACCA\n";
    const Alignment found = read(text);
    ASSERT_EQ(found.alphabet, &Alphabet::rna());
    EXPECT_EQ(rows_of(found)[1].substr(13, 6), "AGUUGG");
    EXPECT_EQ(rows_of(found)[1].substr(36, 1), "A");   // inosine
    EXPECT_EQ(rows_of(found)[0].substr(36, 1), "-");   // Y: either pyrimidine
    EXPECT_EQ(rows_of(found)[0].substr(53, 2), "UU");  // T and pseudouridine
    EXPECT_EQ(only_note(found).kind, NoteKind::alphabet);
    EXPECT_EQ(read(">a\nACDEFGHIKLU\n>b\nACDEFGHIKLU\n").alphabet, &Alphabet::protein());
    EXPECT_THROW(read(">a\nACDEFGHIKL\n>b\nACDEFGHIKL\n", {.alphabet = "rna"}), InputError);
}

TEST(AlignmentNames, MissingOnesAreMade) {
    const Alignment found = read(">\nMKVLAAGIVK\n>\nMKILSAGLVR\n>c\nMKILSAGLVR\n");
    EXPECT_EQ(found.names, (Rows{"sequence 1", "sequence 2", "c"}));
    EXPECT_EQ(only_note(found).kind, NoteKind::sequence_names);
}

TEST(AlignmentRecords, NulBytesDivideThem) {
    const std::string first = ">q\nMKVLA\n>a\nMKILS\n", end = std::string(1, '\0');
    EXPECT_TRUE(read(first + end).notes.empty());
    EXPECT_TRUE(read(first + end + "\n").notes.empty());
    const std::string both = first + end + ">r\nMKV\n>s\nMKI\n>t\nMRI\n" + end;
    EXPECT_EQ(rows_of(read(both)), (Rows{"MKVLA", "MKILS"}));
    EXPECT_EQ(only_note(read(both)).kind, NoteKind::several);
    EXPECT_TRUE(only_note(read(both)).is_warning);
    EXPECT_EQ(read(both, {.record = 2}).names, (Rows{"r", "s", "t"}));
    EXPECT_TRUE(read(both, {.record = 1}).notes.empty());
    EXPECT_THROW(read(both, {.record = 3}), InputError);
    EXPECT_THROW(read("CLUSTAL W\n\na ACD\nb ACD\n", {.record = 2}), InputError);
}

TEST(AlignmentRecords, StockholmHasSeveral) {
    const std::string one = "# STOCKHOLM 1.0\na ACDEF\nb ACDEW\n//\n";
    const std::string text = one + "\n# STOCKHOLM 1.0\nc AC\nd AC\ne CC\n//\n";
    EXPECT_EQ(rows_of(read(text)), (Rows{"ACDEF", "ACDEW"}));
    EXPECT_EQ(only_note(read(text)).kind, NoteKind::several);
    EXPECT_EQ(read(text, {.record = 2}).names, (Rows{"c", "d", "e"}));
    EXPECT_THROW(read(text, {.record = 3}), InputError);
}

TEST(Stockholm, AllowsBlankLinesWithinABlock) {
    const std::string head = "# STOCKHOLM 1.0\n\n";
    EXPECT_EQ(rows_of(read(head + "s1 GGCA\n\ns2 GGCU\ns3 GCCA\n\n\ns4 GACA\n//\n")),
              (Rows{"GGCA", "GGCU", "GCCA", "GACA"}));
    EXPECT_EQ(rows_of(read(head + "a AC\n\nb AG\n\na GU\n\nb UU\n//\n")), (Rows{"ACGU", "AGUU"}));
}

TEST(A3m, LeavesOutRowsThatAreNoSequences) {
    const Alignment found = read(
        ">aa_dssp\nMKVLA\n>q_consensus\nMKVLA\n>q\nMKVLA\n>a\nMKILS\n>ss_psipred\nCCHHC\n"
        ">b_consensus\nMRVLAa\n");
    EXPECT_EQ(found.names, (Rows{"q", "a", "b_consensus"}));
    EXPECT_EQ(only_note(found).kind, NoteKind::helper_rows);
    EXPECT_NE(only_note(found).text.find("aa_dssp, q_consensus, ss_psipred"), std::string::npos);
}

TEST(A3m, KeepsTheLengthsOfColabFoldsChains) {
    const std::string rows = ">101\t102\nMKVLAAGIVK\n>u\t0.9\nMKILSaAGLVR\n";
    EXPECT_EQ(read("#5,5\t1,1\n" + rows).parts, "5,5");
    EXPECT_EQ(read("#5,5\t1,1\n" + rows, {.format = "a3m"}).parts, "5,5");
    EXPECT_EQ(read("#10\t2\n" + rows).parts, "");
    EXPECT_EQ(read("#A3M#\n" + rows).parts, "");
}

TEST(Phylip, ReadsEveryLayout) {
    const Rows rows = {"ACDEFGHIKL", "ACD-FGHIKW"};
    for (const std::string text :
         {"2 10\nseq_one ACDEFGHIKL\nb ACD-FGHIKW\n",
          " 2  10\nseq_one ACDEF\nb       ACD-F\n\nGHIKL\nGHIKW\n",
          "2 10\nseq_one ACDEF\nGHI KL\nb ACD-F\nGHIKW\n",
          "2 10\nseq_one\nACDEFGHIKL\nb\nACD-FGHIKW\n",
          "2 10\nseq one   ACDEF GHIKL\nb         ACD-FGHIKW\n",
          "2 10\nsequence_1ACDEF\nsequence_2ACD-F\n     GHIKL\n     GHIKW\n"}) {
        const Alignment found = read(text);
        EXPECT_EQ(found.format, "phylip") << text;
        EXPECT_EQ(rows_of(found), rows) << text;
        EXPECT_TRUE(found.notes.empty()) << text;
    }
    const std::string two = "2 3\na ACD\nb ACD\n3 2\na AC\nb AC\nc AD\n";
    EXPECT_EQ(read(two).sequence_count(), 2);
    EXPECT_EQ(only_note(read(two)).kind, NoteKind::several);
    EXPECT_EQ(read(two, {.record = 2}).sequence_count(), 3);
}

TEST(Phylip, ReadsTheOptionLettersOfPaml) {
    const Alignment found = read(" 2 10 I\nhuman\nrat\n\nACDEF\nACD-F\nGHIKL\nGHIKW\n");
    EXPECT_EQ(rows_of(found), (Rows{"ACDEFGHIKL", "ACD-FGHIKW"}));
    EXPECT_TRUE(found.notes.empty());
    // Its files go on with remarks, in either layout.
    for (const std::string rows :
         {"a ACDEF\nGHIKL\nb ACD-F\nGHIKW\n", "a ACDEF\nb ACD-F\nGHIKL\nGHIKW\n"}) {
        const Alignment remarked = read("2 10\n" + rows + "\nData of lysozymes\n1 2 3\n");
        EXPECT_EQ(rows_of(remarked), (Rows{"ACDEFGHIKL", "ACD-FGHIKW"}));
        EXPECT_EQ(only_note(remarked).kind, NoteKind::several);
    }
}

TEST(Phylip, DotsAreLettersOfTheFirstSequenceIfNoRowRepeatsOne) {
    for (const std::string head : {"3 6\na ", "CLUSTAL W\n\na "}) {
        const Alignment found = read(head + "ACD-FG\nb .W....\nc ...-Y.\n");
        EXPECT_EQ(rows_of(found), (Rows{"ACD-FG", "AWD-FG", "ACD-YG"}));
        EXPECT_EQ(only_note(found).kind, NoteKind::alphabet);
    }
    const Alignment gaps = read("3 6\na ACDEFG\nb .W.E..\nc ....Y.\n");
    EXPECT_EQ(rows_of(gaps)[1], "-W-E--");
    EXPECT_EQ(only_note(gaps).kind, NoteKind::alphabet);
    EXPECT_EQ(rows_of(read("# STOCKHOLM 1.0\na ACD\nb .WW\n//\n"))[1], "-WW");
}

TEST(AlignmentAlphabet, QuestionMarksAreGapsWithANote) {
    const Alignment found = read(">a\nMK?LA\n>b\nM??LS\n");
    EXPECT_EQ(rows_of(found), (Rows{"MK-LA", "M--LS"}));
    EXPECT_EQ(only_note(found).kind, NoteKind::alphabet);
    EXPECT_NE(only_note(found).text.find("3 '?'"), std::string::npos);
}

TEST(AlignmentAlphabet, AmbiguityCodesAreNotSilentlyProtein) {
    const Alignment found = read(">a\nGCYCCCAAG\n>b\nCCC-CC---\n");
    EXPECT_EQ(found.alphabet, &Alphabet::dna());
    EXPECT_EQ(only_note(found).option, "--alphabet protein");
    const std::string many = "ADTRCGTARDCGTRDRTCGRAGDACG";
    const Alignment open = read(">a\n" + many + "\n>b\n" + many + "\n");
    EXPECT_EQ(open.alphabet, &Alphabet::protein());
    EXPECT_TRUE(only_note(open).is_warning);
    EXPECT_EQ(only_note(open).option, "--alphabet dna");
    EXPECT_TRUE(read(">a\nACDG\n>b\nACDG\n").notes.empty());
}

TEST(Clustal, MarksMayBeLetters) {
    const std::string block = "one  ACGT 4\ntwo  ATGT 4\n     A*GT\n\n";
    EXPECT_EQ(rows_of(read("CLUSTAL W\n\n" + block + block)), (Rows{"ACGTACGT", "ATGTATGT"}));
    EXPECT_EQ(read("CLUSTAL W\n\none ACGT\n two ACGT\n").sequence_count(), 2);
}

TEST(Blocks, ARowThatRepeatsTheOneAboveIsLeftOut) {
    const std::string head = "# STOCKHOLM 1.0\n";
    const Alignment found = read(head + "a ACD\na ACD\nb AFD\n\na EF\na EF\nb EW\n//\n");
    EXPECT_EQ(rows_of(found), (Rows{"ACDEF", "AFDEW"}));
    EXPECT_EQ(only_note(found).kind, NoteKind::helper_rows);
    EXPECT_THROW(read(head + "a ACD\na ACE\nb AFD\n//\n"), InputError);
    EXPECT_THROW(read(head + "a ACD\na ACD\nb AFD\n\na EF\na EG\nb EW\n//\n"), InputError);
}

TEST(AlignmentFormats, OthersAreNamed) {
    for (const auto& [text, name] : std::vector<std::pair<std::string, std::string>>{
             {">P1;one\nany text\nACDEF*\n", "found PIR"},
             {"#NEXUS\nbegin data;\n", "found NEXUS"},
             {"#=RF xxx\na ACD\nb ACD\n", "found SELEX"},
             {"a/1-3 ACD\nb/1-3 ACD\n", "without a header (SELEX"},
             {"PileUp\n\n MSF: 3 Type: P\n", "found MSF"},
             {"Made for a test\n MSF: 3 Type: P\n", "found 'Made"},
             {"!!NA_MULTIPLE_ALIGNMENT\n", "found MSF"},
             {" 3\na\nb 0.1\nc 0.2 0.3\n", "found a distance matrix of PHYLIP"}}) {
        try {
            read(text);
            ADD_FAILURE() << text;
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
        }
    }
    EXPECT_EQ(read("# COMMENT\n>P;one\nMSF\n>b\nMSY\n").sequence_count(), 2);
    EXPECT_EQ(read("MSF\nMSY\n").sequence_count(), 2);
}

}  // namespace
}  // namespace pleat
