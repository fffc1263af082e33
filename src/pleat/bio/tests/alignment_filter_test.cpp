// Tests of filters: which columns and sequences stay, in which order, and where they came from.
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pleat/bio/alignment/filter.h"
#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/core/error.h"
#include "written_alignment.h"

namespace pleat {
namespace {

using Rows = std::vector<std::string>;
using testing::rows_of;

// Gaps of columns: 0, 3/4, 1/4, 2/4, 1/4.
const char* const kSmall =
    ">a\nAWCDE\n"
    ">b\nA-CDE\n"
    ">c\nA-C-E\n"
    ">d\nA----\n";

Alignment small() { return read_alignment_from_memory("small.fasta", kSmall); }

TEST(Filter, IsOffByDefault) {
    const Alignment before = small();
    const Alignment after = filter(before, {});
    EXPECT_EQ(rows_of(after), rows_of(before));
    EXPECT_EQ(after.names, before.names);
    EXPECT_EQ(after.columns, (std::vector<Index>{0, 1, 2, 3, 4}));
    EXPECT_EQ(after.source, before.source);
    EXPECT_EQ(after.format, "fasta");
    EXPECT_EQ(after.alphabet, before.alphabet);
}

TEST(Filter, KeepsColumnsUpToTheFractionItself) {
    EXPECT_EQ(filter(small(), {0.5, 0.0}).columns, (std::vector<Index>{0, 2, 3, 4}));
    EXPECT_EQ(filter(small(), {0.499, 0.0}).columns, (std::vector<Index>{0, 2, 4}));
    EXPECT_EQ(rows_of(filter(small(), {0.499, 0.0})), (Rows{"ACE", "ACE", "ACE", "A--"}));
}

TEST(Filter, KeepsSequencesFromTheFractionItself) {
    const Alignment kept = filter(small(), {1.0, 0.6});
    EXPECT_EQ(rows_of(kept), (Rows{"AWCDE", "A-CDE", "A-C-E"}));
    EXPECT_EQ(kept.names, (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(rows_of(filter(small(), {1.0, 0.61})), (Rows{"AWCDE", "A-CDE"}));
}

TEST(Filter, TakesCoverageOverTheColumnsKept) {
    // Over all columns 'c' covers 3/5; over columns 0, 2 and 4 it covers all.
    EXPECT_EQ(filter(small(), {0.25, 1.0}).names, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Filter, CountsGapsBeforeSequencesGo) {
    // Without 'd' column 2 would have no gap; it has 1/4 of them when columns are judged.
    const Alignment kept = filter(
        read_alignment_from_memory("x.fasta", ">a\nACD\n>b\nACD\n>c\nACD\n>d\nA--\n"), {1.0, 0.5});
    EXPECT_EQ(kept.column_count(), 3);
    EXPECT_THROW(filter(small(), {0.0, 0.5}), InputError);
}

TEST(Filter, ReadsUnknownLettersAsGaps) {
    const Alignment alignment = read_alignment_from_memory("x.aln", "AXWDE\nAXWDE\nACWDE\n");
    EXPECT_EQ(filter(alignment, {0.5, 0.0}).columns, (std::vector<Index>{0, 2, 3, 4}));
}

TEST(Filter, ColumnsStillCountInTheSourceAfterASecondFilter) {
    const Alignment once = filter(small(), {0.5, 0.0});
    const Alignment twice = filter(once, {0.25, 0.0});
    EXPECT_EQ(twice.columns, (std::vector<Index>{0, 2, 4}));
}

TEST(Filter, KeepsTheColumnsOfOneSequence) {
    EXPECT_EQ(filter(small(), {.focus = 2}).columns, (std::vector<Index>{0, 2, 4}));
    EXPECT_EQ(filter(small(), {.focus = 0}).columns, (std::vector<Index>{0, 1, 2, 3, 4}));
    // Gaps and coverage count in the columns that are left.
    EXPECT_EQ(filter(small(), {.max_gaps = 0.3, .focus = 1}).columns,
              (std::vector<Index>{0, 2, 4}));
    EXPECT_EQ(filter(small(), {.min_coverage = 1, .focus = 2}).names,
              (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Filter, SaysWhatIsLeftWhenItIsTooLittle) {
    const auto text = [](const FilterOptions& options) -> std::string {
        try {
            filter(small(), options);
        } catch (const InputError& error) {
            return error.what();
        }
        return "(accepted)";
    };
    EXPECT_EQ(
        text({0.0, 0.0}),
        "small.fasta: expected at least 2 columns with a fraction of gaps of at most 0, found "
        "1 of 5");
    EXPECT_EQ(
        text({1.0, 1.0}),
        "small.fasta: expected at least 2 sequences with a coverage of at least 1, found 1 of "
        "4");
}

TEST(Filter, RefusesFractionsOutsideTheRange) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (double value : {-0.1, 1.1, 80.0, nan}) {
        EXPECT_THROW(filter(small(), {value, 0.0}), UsageError);
        EXPECT_THROW(filter(small(), {1.0, value}), UsageError);
    }
}

TEST(Filter, AgreesWithCountingByHandOnRandomAlignments) {
    std::mt19937 random(7);
    for (int trial = 0; trial < 50; ++trial) {
        const int count = 5 + static_cast<int>(random() % 20);
        const int width = 5 + static_cast<int>(random() % 20);
        std::string text;
        for (int n = 0; n < count; ++n) {
            for (int j = 0; j < width; ++j) text += "DEFW-"[random() % 5];
            text += '\n';
        }
        const Alignment all = read_alignment_from_memory("x.aln", text);
        const Rows rows = rows_of(all);
        const double max_gaps = 0.3, min_coverage = 0.8;
        std::vector<Index> columns;
        for (int j = 0; j < width; ++j) {
            int gaps = 0;
            for (const std::string& row : rows) gaps += row[j] == '-';
            if (10 * gaps <= 3 * count) columns.push_back(j);
        }
        Rows kept;
        for (const std::string& row : rows) {
            std::string short_row;
            int residues = 0;
            for (Index j : columns) {
                short_row += row[j];
                residues += row[j] != '-';
            }
            if (10 * residues >= 8 * static_cast<int>(columns.size())) kept.push_back(short_row);
        }
        if (columns.size() < 2 || kept.size() < 2) {
            EXPECT_THROW(filter(all, {max_gaps, min_coverage}), InputError);
            continue;
        }
        const Alignment found = filter(all, {max_gaps, min_coverage});
        EXPECT_EQ(found.columns, columns);
        EXPECT_EQ(rows_of(found), kept);
    }
}

TEST(GapOnly, CountsColumnsAndSequencesWithoutResidues) {
    EXPECT_EQ(gap_only_text(small()), "");
    const auto text_of = [](const char* rows) {
        return gap_only_text(
            read_alignment_from_memory("x.aln", rows, {.format = "", .alphabet = "protein"}));
    };
    EXPECT_EQ(text_of("AC-W\nA--W\n"), "1 column holds only gaps");
    EXPECT_EQ(text_of("ACDW\n----\n----\n"), "2 sequences hold only gaps");
    EXPECT_EQ(text_of("A-X-\n----\nC---\n"), "3 columns and 1 sequence hold only gaps");
}

}  // namespace
}  // namespace pleat
