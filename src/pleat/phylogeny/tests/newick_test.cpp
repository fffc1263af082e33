// Tests of Newick: names, comments, lengths and multifurcations survive; bad trees are refused.
#include <gtest/gtest.h>

#include "pleat/core/error.h"
#include "pleat/phylogeny/tree.h"

namespace pleat::phylogeny {
namespace {

Tree parse(const std::string& text) { return parse_newick("t.nwk", text); }

std::string complaint(const std::string& text) {
    try {
        parse(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(Newick, KeepsNamesLengthsAndMultifurcations) {
    const Tree tree = parse(
        "[a comment] (a:0.1, 'it''s (b)':2e-1 ,(c|1/2-3[x]:0,d_e)0.95:0.5,\n f:.5)'root':1 ;\n");
    EXPECT_EQ(tree.parent, (std::vector<std::int32_t>{-1, 0, 0, 0, 3, 3, 0}));
    EXPECT_EQ(tree.names[2], "it's (b)");
    EXPECT_EQ(tree.names[4], "c|1/2-3");
    EXPECT_EQ(tree.names[5], "d_e");
    EXPECT_EQ(tree.length, (std::vector<double>{1, 0.1, 0.2, 0.5, 0, 0, 0.5}));
    EXPECT_EQ(tree.row, (std::vector<Index>{-1, 0, 1, -1, 2, 3, 4}));
    const std::string text = to_newick(tree);
    EXPECT_EQ(text, "(a:0.1,'it''s (b)':0.2,(c|1/2-3:0,d_e:0):0.5,f:0.5);\n");
    const Tree again = parse(text);
    EXPECT_EQ(again.parent, tree.parent);
    EXPECT_EQ(again.names, tree.names);
}

TEST(Newick, ReadsChainsOfAnyDepth) {
    std::string text = "a0";
    for (int leaf = 1; leaf < 30000; ++leaf) text = "(" + text;
    for (int leaf = 1; leaf < 30000; ++leaf) text += ",a" + std::to_string(leaf) + ")";
    EXPECT_EQ(parse(text + ";").node_count(), 2 * 30000 - 1);
    EXPECT_EQ(parse(to_newick(parse(text))).node_count(), 2 * 30000 - 1);
}

TEST(Newick, RefusesOtherText) {
    EXPECT_EQ(complaint("(a,\n(b));"),
              "t.nwk:2: expected at least 2 branches below every node, found a node with one");
    EXPECT_EQ(complaint("(a,b:-0.1);"), "t.nwk:1: expected a length of at least 0, found '-0.1);'");
    EXPECT_EQ(complaint("(a,b,a);"), "t.nwk:1: expected each leaf once, found 'a' twice");
    EXPECT_EQ(complaint("(a,b"), "t.nwk:1: expected ',' or ')', found the end of the file");
    EXPECT_EQ(complaint(""),
              "t.nwk:1: expected the name of a leaf or '(', found the end of the file");
    EXPECT_EQ(complaint("(a,);"), "t.nwk:1: expected the name of a leaf or '(', found ');'");
    EXPECT_EQ(complaint("(a,b);(c,d);"), "t.nwk:1: expected the end of the tree, found '(c,d);'");
    for (const char* text : {"(a,b:x);", "(a,'b);", "(a[b);", "(a,b:nan);", "(a b,c);", "((a,b);"})
        EXPECT_NE(complaint(text), "") << text;
}

TEST(Newick, MatchesLeavesWithRows) {
    Tree tree = parse("(a,(b,c));");
    match_rows(tree, std::vector<std::string>{"c", "a", "b"}, "t.nwk");
    EXPECT_EQ(tree.row, (std::vector<Index>{-1, 1, -1, 2, 0}));
    try {
        match_rows(tree, std::vector<std::string>{"c", "a", "x", "y"}, "t.nwk");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(),
                     "t.nwk: expected the 4 rows of the alignment as leaves, found 1 (b) that are "
                     "no rows, and no leaf for 2 (x, y)");
    }
    EXPECT_THROW(check_names(std::vector<std::string>{"a", "b", "a"}, "x.sto"), InputError);
}

}  // namespace
}  // namespace pleat::phylogeny
