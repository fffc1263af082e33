// Secondary structures: pairs of brackets, files of each format, and each way in which they break.
#include "pleat/bio/alignment/bracket_notation.h"

#include <gtest/gtest.h>

#include "pleat/core/tests/data_folders.h"
#include "refusal.h"

namespace pleat {
namespace {

using Pairs = std::vector<std::pair<Index, Index>>;

SecondaryStructure read(const std::string& text) {
    return read_secondary_structure_from_memory("s.db", text);
}

std::string complaint(const std::string& text) {
    return testing::refusal([&] { read(text); });
}

TEST(SecondaryStructure, PairsBracketsOfEachKind) {
    EXPECT_EQ(nested_pairs(read("((.))\n")), (Pairs{{0, 4}, {1, 3}}));
    EXPECT_EQ(nested_pairs(read("<(..)>,[{~}]:\n")), (Pairs{{0, 5}, {1, 4}, {7, 11}, {8, 10}}));
    EXPECT_TRUE(nested_pairs(read("....\n")).empty());
}

TEST(SecondaryStructure, LeavesOutPseudoknots) {
    EXPECT_EQ(nested_pairs(read("((.[[.)).]]\n")), (Pairs{{0, 7}, {1, 6}}));
    EXPECT_EQ(nested_pairs(read("[[.((.]].))\n")), (Pairs{{3, 10}, {4, 9}}));
    EXPECT_EQ(nested_pairs(read("((AA..))aa\n")), (Pairs{{0, 7}, {1, 6}}));
}

TEST(SecondaryStructure, ReadsViennaFilesAndWrappedLines) {
    const SecondaryStructure found = read(">name of it\nGGGAAACCC\n(((...\n))) ( -1.20)\n");
    EXPECT_EQ(found.marks, "(((...)))");
    EXPECT_EQ(found.source, "s.db");
    EXPECT_EQ(read("((..)) (-1.2)\r\n").marks, "((..))");
}

TEST(SecondaryStructure, ReadsTheLineOfStockholmFiles) {
    EXPECT_EQ(
        read("# STOCKHOLM 1.0\n\na ACGU\n#=GC SS_cons <..>\n\na AC\n#=GC SS_cons ()\n//\n").marks,
        "<..>()");
    const SecondaryStructure trna = read_secondary_structure(test::data_folder() / "trna.sto.gz");
    EXPECT_EQ(trna.marks.size(), 176u);
    EXPECT_EQ(nested_pairs(trna).size(), 28u);
}

TEST(SecondaryStructure, RefusesWhatIsNoStructure) {
    EXPECT_EQ(complaint("(()\n"),
              "s.db: expected a partner of each bracket, found none of '(' at 1");
    EXPECT_EQ(complaint(".)\n"),
              "s.db: expected a partner of each bracket, found none of ')' at 2");
    EXPECT_NE(complaint("(.)A\n").find("'A' at 4"), std::string::npos);
    EXPECT_NE(complaint("").find("found no brackets or dots"), std::string::npos);
    EXPECT_NE(complaint("ACGU\n").find("found no brackets or dots"), std::string::npos);
    EXPECT_EQ(complaint("..\n12 34\n").substr(0, 7), "s.db:2:");
    EXPECT_NE(complaint(">a\n..\n>b\n..\n").find("s.db:3: expected one structure"),
              std::string::npos);
    EXPECT_NE(complaint("# STOCKHOLM 1.0\na ACGU\n//\n").find("SS_cons"), std::string::npos);
    EXPECT_NE(complaint(std::string(100'001, '.')).find("at most 100000"), std::string::npos);
}

TEST(SecondaryStructure, KeepsPseudoknotsAmongAllPairs) {
    const SecondaryStructure structure = read("(A[)a].");
    EXPECT_EQ(all_base_pairs(structure),
              (std::vector<std::pair<Index, Index>>{{0, 3}, {1, 4}, {2, 5}}));
    EXPECT_EQ(nested_pairs(structure), (std::vector<std::pair<Index, Index>>{{0, 3}}));
}

}  // namespace
}  // namespace pleat
