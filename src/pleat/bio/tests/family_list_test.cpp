// Tests of family lists: names, lists of paths, and names that clash.
#include "pleat/bio/alignment/family_list.h"

#include <gtest/gtest.h>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat {
namespace {

using test::error_text;

TEST(FamilyName, DropsFolderPackingAndFormat) {
    for (const auto& [path, name] :
         std::vector<std::pair<std::string, std::string>>{{"data/PF00072.a3m.gz", "PF00072"},
                                                          {"PF00072.full.sto", "PF00072.full"},
                                                          {"a.FASTA.ZST", "a"},
                                                          {"1abc.aln", "1abc"},
                                                          {"family", "family"},
                                                          {"family.gz", "family"},
                                                          {"x.gz.a3m", "x.gz"},
                                                          {"x.seqs", "x.seqs"},
                                                          {"x.a3m.fasta", "x.a3m"},
                                                          {".a3m", ".a3m"},
                                                          {"a b.txt", "a b"},
                                                          {"dir.a3m/x", "x"}})
        EXPECT_EQ(family_name(path), name) << path;
}

TEST(PathList, HasOnePathALine) {
    EXPECT_EQ(parse_path_list("list", "# families\na.aln\r\n\n  \t\n sub/b c.aln \n  # x\n./#no"),
              (std::vector<std::string>{"a.aln", "sub/b c.aln", "./#no"}));
    EXPECT_EQ(parse_path_list("list", "one"), std::vector<std::string>{"one"});
}

TEST(PathList, WithoutPathsIsRefused) {
    for (const char* text : {"", "\n\n", "# nothing\n", " \t\r\n"})
        EXPECT_EQ(error_text<InputError>([&] { parse_path_list("my.list", text); }),
                  "my.list: expected a path a line, found none");
    EXPECT_EQ(
        error_text<InputError>([&] { parse_path_list("my.list", std::string_view("a\0b\n", 4)); }),
        "my.list: expected a path a line, found zero bytes");
}

TEST(NameFamilies, KeepsTheOrder) {
    const std::vector<Family> families = name_families({"z/b.aln", "a.aln.gz", "c"});
    ASSERT_EQ(families.size(), 3u);
    EXPECT_EQ(families[0].name, "b");
    EXPECT_EQ(families[0].path, "z/b.aln");
    EXPECT_EQ(families[1].name, "a");
    EXPECT_EQ(families[2].name, "c");
}

TEST(NameFamilies, RefusesNamesThatClash) {
    EXPECT_EQ(error_text<UsageError>([] {
                  name_families({"x/a.aln", "b.aln", "y/a.a3m.gz"});
              }),
              "expected families of different names, found 'x/a.aln' and 'y/a.a3m.gz', which are "
              "both 'a'; rename one or leave it out");
    EXPECT_EQ(
        error_text<UsageError>([] {
            name_families({"a.aln", "a.aln"});
        }),
        "expected families of different names, found 'a.aln' and 'a.aln', which are both 'a'; "
        "rename one or leave it out");
    for (const char* path : {"", "folder/", "..", "a/."})
        EXPECT_EQ(error_text<UsageError>([&] { name_families({path}); }),
                  std::string("expected an alignment's file, found '") + path + "'");
}

}  // namespace
}  // namespace pleat
