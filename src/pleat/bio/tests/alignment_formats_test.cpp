// Tests of formats: the same table read from each, told apart by content, with each one's rules.
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/core/error.h"
#include "written_alignment.h"

namespace pleat {
namespace {

using Rows = std::vector<std::string>;
using testing::rows_of;
using testing::Table;

Alignment read(const std::string& text, const std::string& format = {}) {
    return read_alignment_from_memory("x", text, {format, ""});
}

Table random_table(std::mt19937& random) {
    Table table;
    const std::size_t count = 2 + random() % 9, width = 12 + random() % 150;
    for (std::size_t n = 0; n < count; ++n) {
        table.names.push_back("name_" + std::to_string(n) + "/1-9");
        std::string row;
        for (std::size_t j = 0; j < width; ++j) row += "ARNDCQEGHILKMFPSTWYV-"[random() % 21];
        table.rows.push_back(row);
    }
    return table;
}

void expect_table(const Alignment& found, const Table& table, const std::string& format) {
    EXPECT_EQ(found.format, format);
    EXPECT_EQ(rows_of(found), table.rows) << format;
    EXPECT_EQ(found.names, table.names) << format;
    EXPECT_EQ(found.alphabet, &Alphabet::protein());
    EXPECT_EQ(found.source, "x");
    ASSERT_EQ(found.columns.size(), table.rows[0].size());
    for (std::size_t j = 0; j < table.rows[0].size(); ++j) {
        EXPECT_EQ(found.columns[j], static_cast<Index>(j));
    }
}

TEST(AlignmentFormats, GiveTheSameLettersAndAreToldByContent) {
    std::mt19937 random(1);
    for (int trial = 0; trial < 40; ++trial) {
        Table table = random_table(random);
        const std::size_t width = 1 + random() % 80;
        const std::size_t inserted = 1 + random() % 3;
        expect_table(read(as_fasta(table, width)), table, "fasta");
        expect_table(read(as_a2m(table, inserted, true, width)), table, "a2m");
        // Rows of equal length and unequal insertions need a last row without any to be told.
        Table uneven = table;
        uneven.names.push_back("uneven");
        uneven.rows.push_back(table.rows[0]);
        std::string a3m = as_a2m(table, inserted, false, width);
        a3m += ">uneven\n" + testing::wrapped(table.rows[0], width);
        expect_table(read(a3m), uneven, "a3m");
        expect_table(read(as_stockholm(table, width)), table, "stockholm");
        expect_table(read(as_clustal(table, width)), table, "clustal");
        Table unnamed = table;
        for (std::size_t n = 0; n < table.names.size(); ++n) {
            unnamed.names[n] = "sequence " + std::to_string(n + 1);
        }
        expect_table(read(as_psicov(table)), unnamed, "psicov");
    }
}

TEST(AlignmentFormats, NamedFormatOverrulesContent) {
    // As FASTA the lower-case residues stay, as A3M they go.
    const std::string text = ">a\nACdeF\n>b\nACdeW\n";
    EXPECT_EQ(read(text).format, "a2m");
    EXPECT_EQ(rows_of(read(text)), (Rows{"ACF", "ACW"}));
    EXPECT_EQ(rows_of(read(text, "fasta")), (Rows{"ACDEF", "ACDEW"}));
    EXPECT_EQ(rows_of(read(text, "a3m")), (Rows{"ACF", "ACW"}));
    EXPECT_EQ(read(text, "a3m").format, "a3m");
    EXPECT_THROW(read(text, "psicov"), InputError);
    EXPECT_THROW(read(text, "clustal"), InputError);
    EXPECT_THROW(read(text, "stockholm"), InputError);
}

TEST(Fasta, LowerCaseAndEveryGapCharacterStandInColumns) {
    const Alignment found = read(">a\nacde.F\n>b\nAC~_-W\n");
    EXPECT_EQ(found.format, "fasta");
    EXPECT_EQ(rows_of(found), (Rows{"ACDE-F", "AC---W"}));
}

TEST(Fasta, AllLowerCaseIsFasta) {
    EXPECT_EQ(rows_of(read(">a\nacdef\n>b\nac-ew\n")), (Rows{"ACDEF", "AC-EW"}));
}

TEST(Fasta, DotsAsGapsAreNoInsertions) {
    const Alignment found = read(">a\nAC..EF\n>b\nACD.EW\n>c\nA.DWEW\n");
    EXPECT_EQ(found.format, "fasta");
    EXPECT_EQ(rows_of(found), (Rows{"AC--EF", "ACD-EW", "A-DWEW"}));
}

TEST(Fasta, SkipsCommentsBlankLinesAndBlanks) {
    const Alignment found =
        read("\n# remark\n; old remark\n\n>a x y\nACD EF\n\nGHI\tK \n;inside\n>  b\nACDEFGHIW\n\n");
    EXPECT_EQ(rows_of(found), (Rows{"ACDEFGHIK", "ACDEFGHIW"}));
    EXPECT_EQ(found.names, (std::vector<std::string>{"a", "b"}));
}

TEST(Fasta, AcceptsNamesThatComeTwice) {
    EXPECT_EQ(read(">a\nACDEF\n>a\nACDEW\n").names, (std::vector<std::string>{"a", "a"}));
}

TEST(A3m, SkipsSecondaryStructureRows) {
    const Alignment found = read(
        "#A3M#\n>ss_pred "
        "PSIPRED\nCCHHH\n>ss_conf\n98765\n>a\nACDEF\n>b\nACklDEF\n>sa_dssp\nabcde\n");
    EXPECT_EQ(found.format, "a3m");
    EXPECT_EQ(rows_of(found), (Rows{"ACDEF", "ACDEF"}));
}

TEST(A3m, DropsLowerCaseAndDots) {
    const Alignment found = read(">a\nA-CDEF\n>b\nghA.CC--kW.\n>c\nAACCEF\n");
    EXPECT_EQ(found.format, "a3m");
    EXPECT_EQ(rows_of(found), (Rows{"A-CDEF", "ACC--W", "AACCEF"}));
    EXPECT_EQ(found.columns, (std::vector<Index>{0, 1, 2, 3, 4, 5}));
}

TEST(A3m, ComplaintsFollowTheReadingThatFitsBetter) {
    const auto text = [](const std::string& file) -> std::string {
        try {
            read(file);
        } catch (const InputError& error) {
            return error.what();
        }
        return "(accepted)";
    };
    // Two of three rows agree in match columns, none in length: an A3M with one wrong row.
    EXPECT_EQ(
        text(">a\nACDEF\n>b\nACghDEF\n>c\nACiD\n"),
        "x:5: expected 5 match columns (upper case and '-') as in the first sequence, found 3 "
        "in sequence 'c'");
    // Two of three rows agree in length, none in match columns: soft-masked FASTA, one wrong row.
    EXPECT_EQ(text(">a\nACdef\n>b\nACDEf\n>c\nACd\n>d\nACDEF\n"),
              "x:5: expected 5 aligned columns as in the first sequence, found 3 in sequence 'c'");
}

TEST(Stockholm, IgnoresMarkupAndKeepsLowerCase) {
    const Alignment found = read(
        "# STOCKHOLM 1.0\n#=GF CC several\n#=GF CC lines\n#=GS a DE text\n\n"
        "a           AC.de\n#=GR a SS   <<>>.\nb           ACDEF\n#=GC SS_cons <<.>>\n\n"
        "#=GC RF xxx\na  FGH\nb  ~G_\n//\n\n");
    EXPECT_EQ(found.format, "stockholm");
    EXPECT_EQ(rows_of(found), (Rows{"AC-DEFGH", "ACDEF-G-"}));
}

TEST(Stockholm, ToleratesAHeaderWithoutBlank) {
    EXPECT_EQ(read("#STOCKHOLM 1.0\na ACDEF\nb ACDEW\n//").sequence_count(), 2);
}

TEST(Clustal, ReadsEveryProgramsHeader) {
    for (const char* header :
         {"CLUSTAL", "CLUSTAL W (1.83) multiple sequence alignment",
          "CLUSTAL 2.1 multiple sequence alignment", "CLUSTAL O(1.2.4) multiple sequence alignment",
          "CLUSTALW (1.81)", "CLUSTAL format alignment by MAFFT (v7.505)", "MUSCLE (3.8) alignment",
          "PROBCONS version 1.12 multiple sequence alignment", "MSAPROBS version 0.9.7",
          "T-COFFEE, Version_11 [http://www.tcoffee.org]",
          "Kalign (2.0) alignment in ClustalW format"}) {
        const Alignment found = read(std::string(header) + "\n\na ACDEF\nb ACDEW\n");
        EXPECT_EQ(found.format, "clustal") << header;
        EXPECT_EQ(rows_of(found), (Rows{"ACDEF", "ACDEW"})) << header;
    }
}

TEST(Clustal, AcceptsCountsAndBlocksWithoutBlankLines) {
    const Alignment found = read(
        "CLUSTAL W\n\nseq1   ACDEF 5\nseq2   AC-eF 4\n       **:*.\nseq1   GH 7\nseq2   G. 5\n     "
        "  *\n");
    EXPECT_EQ(rows_of(found), (Rows{"ACDEFGH", "AC-EFG-"}));
}

TEST(Psicov, AcceptsBlankLinesAndBlanksAroundRows) {
    EXPECT_EQ(rows_of(read("\nACDEF  \n\n\tacde-\n\n")), (Rows{"ACDEF", "ACDE-"}));
}

TEST(AlignmentFormats, WhatIsWrittenHereIsWhatTheListSays) {
    EXPECT_EQ(alignment_formats(), (std::vector<std::string>{"fasta", "a2m", "a3m", "stockholm",
                                                             "clustal", "psicov", "phylip"}));
}

}  // namespace
}  // namespace pleat
