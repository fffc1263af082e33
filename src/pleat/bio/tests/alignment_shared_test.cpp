// Many real alignments of ../shared: counts, and the same family from two formats.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/core/tests/data_folders.h"
#include "written_alignment.h"

namespace pleat {
namespace {

const std::filesystem::path kData = test::shared_folder() / "data";

/// The number after `key` in "N=869;L=154;...", or -1.
Index number(const std::string& counts, const std::string& key) {
    const std::string text = ";" + counts;
    const std::size_t at = text.find(";" + key + "=");
    return at == std::string::npos ? -1 : std::stoll(text.substr(at + key.size() + 2));
}

/// The manifest counts all columns of Stockholm files.
ReadOptions every_column(const std::string& file) {
    ReadOptions options;
    if (file.find(".sto") != std::string::npos) options.insertions = Insertions::keep;
    return options;
}

void expect_counts_of_the_manifest() {
    std::ifstream manifest(kData / "MANIFEST.tsv");
    int checked = 0;
    for (std::string line; std::getline(manifest, line);) {
        std::vector<std::string> fields;
        std::istringstream cut(line);
        for (std::string field; std::getline(cut, field, '\t');) fields.push_back(field);
        if (!fields[0].starts_with("alignments/") || number(fields[5], "N") < 0) continue;
        if (!std::filesystem::exists(kData / fields[0])) continue;
        SCOPED_TRACE(fields[0]);
        const Alignment alignment = read_alignment(kData / fields[0], every_column(fields[0]));
        EXPECT_EQ(alignment.sequence_count(), number(fields[5], "N"));
        EXPECT_EQ(alignment.column_count(), number(fields[5], "L"));
        const bool rna = fields[0].starts_with("alignments/rna/");
        EXPECT_EQ(alignment.alphabet->name(), rna ? "rna" : "protein");
        EXPECT_EQ(alignment.names.size(), static_cast<std::size_t>(alignment.sequence_count()));
        ++checked;
    }
    EXPECT_GE(checked, 50);
}

void expect_the_same_in_their_original_format() {
    struct Pair {
        const char* original;
        const char* rows;
        const char* format;
    };
    for (const Pair& pair : {Pair{"1atzA.fas.gz", "1atzA.aln.gz", "fasta"},
                             Pair{"2QKEE_colabfold.a3m.gz", "2qkeE_KaiB.aln.gz", "a3m"},
                             Pair{"DHFR.a2m.gz", "DYR_ECOLI_1rx2.aln.gz", "fasta"},
                             Pair{"s1Ahalabi_1470.an.gz", "S1A_3tgi.aln.gz", "fasta"}}) {
        SCOPED_TRACE(pair.original);
        const Alignment original = read_alignment(kData / "alignments/orig" / pair.original);
        const Alignment rows = read_alignment(kData / "alignments" / pair.rows);
        EXPECT_EQ(original.format, pair.format);
        EXPECT_EQ(rows.format, "psicov");
        ASSERT_EQ(original.sequence_count(), rows.sequence_count());
        ASSERT_EQ(original.column_count(), rows.column_count());
        EXPECT_TRUE(testing::rows_of(original) == testing::rows_of(rows));
    }
}

TEST(SharedAlignments, AreReadAsTheirManifestSaysFromEveryFormat) {
    if (!std::filesystem::exists(kData / "MANIFEST.tsv"))
        GTEST_SKIP() << "the larger alignments of " << kData << " are absent";
    expect_counts_of_the_manifest();
    expect_the_same_in_their_original_format();
}

}  // namespace
}  // namespace pleat
